import { play, playedPlugins } from '../../plugins/investigate/cli/bench/worlds/play.ts';
import { worldKinds } from '../../plugins/investigate/cli/bench/worlds/world/world-kind.ts';
import { askEmptySvc } from '../../bin/serve/small-svc.ts';
import type { Outcome, Row } from '../exercise.ts';
import { answerTo, snapshotOfWorld } from '../rca-worlds/snapshot-of-world.ts';

/**
 * `bench rca-worlds` measures in one process what `svc bench rca --worlds` measures through the API: the same worlds get the same
 * verdict and the same first answer both ways.
 */
export async function run({
  seed = 1_000,
  worlds = 1,
}: {
  readonly seed?: number;
  readonly worlds?: number;
}): Promise<Outcome> {
  const rows: Row[] = [];
  for (const kind of worldKinds) {
    for (let at = seed; at < seed + worlds; at += 1) {
      const { world, answer } = await askEmptySvc(playedPlugins, (client, address) =>
        play(client, address, at, kind),
      );
      const snapshot = await snapshotOfWorld(world);
      const inProcess = snapshot && answerTo(snapshot);
      const firstOf = (one: typeof answer): string => one?.hypotheses[0]?.node.id ?? '';
      rows.push({
        kind,
        seed: at,
        'by the API': `${answer?.verdict} ${firstOf(answer)}`,
        'in one process': `${inProcess?.verdict} ${firstOf(inProcess)}`,
        same: answer?.verdict === inProcess?.verdict && firstOf(answer) === firstOf(inProcess),
      });
    }
  }
  return {
    ok: rows.every(({ same }) => same === true),
    worlds: rows.length,
    same: rows.filter(({ same }) => same === true).length,
    each: rows,
  };
}
