import type { Registry } from '../../registry/index.ts';
import type { PointDirectory } from '../../sdk/index.ts';
import type { Schemas } from '../folder/schemas.ts';
import { faultOf, keptBy, type Keeper, misfitByShape, misfitOf } from './extension-point.ts';

/**
 * Tells what packs may contribute, and what that does, in the words of those who open the points.
 * `keeper` returns the plugin that ships a contribution, running or not.
 */
export const packPoints = (
  registry: Registry,
  schemas: Schemas,
  keeper: Keeper,
): PointDirectory => ({
  refusal(manifest) {
    for (const [point, values] of Object.entries(manifest.contributes)) {
      const opened = registry.current.points.get(point)?.value;
      if (opened?.packs === undefined) {
        return opened === undefined
          ? `contributes to ${point}, which does not exist on this svc`
          : `contributes to ${point}, which is closed to packs`;
      }
      for (const [id, value] of Object.entries(values)) {
        const problem =
          keptBy(keeper(point, id)) ??
          misfitOf({ id, value, ofPack: true }, manifest, opened, schemas);
        if (problem !== undefined) {
          return `contributes "${id}" to ${point}: ${problem}`;
        }
      }
    }
    return undefined;
  },
  async fault({ contributes }) {
    for (const [point, values] of Object.entries(contributes)) {
      const opened = registry.current.points.get(point)?.value;
      for (const [id, value] of opened === undefined ? [] : Object.entries(values)) {
        const fault = await faultOf({ id, value }, opened!);
        if (fault !== undefined) {
          return `contributes "${id}" to ${point}: ${fault}`;
        }
      }
    }
    return undefined;
  },
  sentence(point, id, value) {
    const opened = registry.current.points.get(point)?.value;
    return opened?.packs === undefined || misfitByShape(value, opened.packs, schemas)
      ? undefined
      : opened.packs.sentence(id, value);
  },
});
