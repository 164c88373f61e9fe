import { askEmptySvc } from '../../bin/serve/small-svc.ts';
import { benched } from '../../plugins/model/cli/bench/bench.ts';
import { shippedCases, shippedWorlds } from '../../plugins/model/cli/bench/shipped.ts';
import type { Outcome } from '../exercise.ts';

/** Share that must pass: routing sends a few questions to an agent without the tool for them. */
const enough = 0.96;

/**
 * Asks all cases of `svc bench agent` of the model that reads the key: the facts of a rubric can be
 * reached with the tools of the product, and what must not run does not.
 */
export async function run(): Promise<Outcome> {
  const begun = performance.now();
  const [scripted] = await benched(
    { askEmpty: askEmptySvc },
    {
      cases: shippedCases,
      worlds: shippedWorlds,
      models: ['scripted'],
      environment: {},
      each: () => undefined,
    },
  );
  const { cases, passed, outcomes } = scripted!;
  return {
    ok: passed >= enough * cases,
    cases,
    passed,
    failed: outcomes
      .filter((outcome) => !outcome.passed)
      .map(({ id, missing, wrong }) => ({
        id,
        missing: JSON.stringify(missing),
        wrong: wrong.join('; '),
      })),
    seconds: Math.round((performance.now() - begun) / 1_000),
  };
}
