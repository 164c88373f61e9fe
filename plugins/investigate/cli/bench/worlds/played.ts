import type { Shell } from 'svc/cli';

import { play, playedPlugins } from './play.ts';
import { type Outcome, outcomeOf, type WorldTable, worldTableOf } from './score.ts';

import type { WorldKind } from './world/world-kind.ts';

/**
 * Plays worlds of consecutive seeds, each to an svc of its own that starts empty. Seeds below 5,000 are for development; what is
 * claimed is measured from 5,000 on, on seeds that nobody has looked at.
 */
export async function playedWorlds(
  shell: Pick<Shell, 'askEmpty'>,
  {
    first,
    count,
    kind,
    each,
  }: {
    readonly first: number;
    readonly count: number;
    readonly kind: WorldKind;
    readonly each: (done: number) => void;
  },
): Promise<WorldTable> {
  const outcomes: Outcome[] = [];
  const notFired: number[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const { world, answer } = await shell.askEmpty(playedPlugins, (client, at) =>
      play(client, at, seed, kind),
    );
    if (answer === undefined) {
      notFired.push(seed);
    } else {
      outcomes.push(outcomeOf(world, answer));
    }
    each(outcomes.length + notFired.length);
  }
  return worldTableOf(outcomes, notFired);
}
