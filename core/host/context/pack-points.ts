import type { Registry } from '../../registry/index.ts';
import type { PointDirectory } from '../../sdk/index.ts';
import type { Schemas } from '../folder/schemas.ts';
import { misfitOf } from './extension-point.ts';

/** Tells what packs may contribute, and what that does, in the words of those who open the points. */
export const packPoints = (registry: Registry, schemas: Schemas): PointDirectory => ({
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
          misfitOf({ value, ofPack: true }, opened, schemas) ??
          opened.packs.problem?.(id, value, manifest);
        if (problem !== undefined) {
          return `contributes "${id}" to ${point}: ${problem}`;
        }
      }
    }
    return undefined;
  },
  sentence(point, id, value) {
    const opened = registry.current.points.get(point)?.value;
    return opened?.packs === undefined || misfitOf({ value, ofPack: true }, opened, schemas)
      ? undefined
      : opened.packs.sentence(id, value);
  },
});
