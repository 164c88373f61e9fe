import assert from 'node:assert/strict';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { isSvcError } from 'svc/sdk';

import type { Outcome, Row } from '../exercise.ts';
import { type BadPayload, badPayloads } from '../plugins/edge-upgrade/payloads.ts';
import { agentProgram, pretender, rig } from '../plugins/edge-upgrade/rig.ts';

/** Max steps, beyond what any of them takes. */
const mostSteps = 40;

/**
 * Tries each bad payload, and good ones, with a kill before and after each rename of an upgrade: an
 * authenticated agent always remains, the manager learns the outcome of the order, and nothing is
 * left of what was refused. A kill of the new version counts as one of its three starts, so a good
 * one gets through.
 */
export async function run({
  only = '',
  'trial-seconds': trialSeconds = 4,
}: { readonly only?: string; readonly 'trial-seconds'?: number } = {}): Promise<Outcome> {
  const undo: (() => unknown)[] = [];
  const after = (step: unknown): void => void undo.push(step as () => unknown);
  const rows: Row[] = [];
  try {
    const one = await rig(
      { after },
      { installed: agentProgram('1.0.0', 'ulimit -f 2048'), trialSeconds },
    );
    const { order, offer, ended, serves, launched, dataDir } = one;
    const plan = join(dataDir, 'kill-plan');
    await serves('1.0.0');

    const endsAtOnce: BadPayload = {
      name: 'ends when it serves',
      make: (give) => give(pretender('2.0.0', 'exit 9')),
      reason: /ended 3 times before it was healthy|was not healthy within/,
      state: 'rolled_back',
    };
    const bad = [...badPayloads, endsAtOnce].filter(({ name }) => name.includes(String(only)));
    for (const { name, make, reason, state = 'failed', leaves = [] } of bad) {
      let kills = 0;
      for (const when of ['before', 'after']) {
        for (let step = 0; step < mostSteps; step++) {
          writeFileSync(plan, `${step} ${when}`);
          const ordered = make(offer);
          // The kill may come before the answer does: what was kept is done all the same, and the first step is what keeps it.
          await order(ordered).catch((error: unknown) =>
            assert.ok(isSvcError(error), String(error)),
          );
          if (!(step === 0 && when === 'before')) {
            const end = await ended(ordered.job_id);
            assert.equal(end.state, state, `${name}, killed ${when} step ${step}: ${end.error}`);
            assert.match(end.error ?? '', reason);
          }
          await serves('1.0.0');
          assert.equal(launched.runs, '-');
          if (existsSync(plan)) {
            rmSync(plan);
            break;
          }
          kills++;
        }
      }
      assert.deepEqual(
        readdirSync(join(dataDir, 'versions')),
        leaves,
        'nothing is left of it that is of no use',
      );
      rows.push({ payload: name, kills, end: state });
      console.error(`${rows.length} of ${bad.length + 1} payloads: ${name}, ${kills} kills`);
    }

    // Its own machine, and as much time as a busy one needs: here the kills are to be survived, not the clock.
    const other = await rig({ after });
    await other.serves('1.0.0');
    const otherPlan = join(other.dataDir, 'kill-plan');
    let kills = 0;
    for (const when of 'a good one'.includes(String(only)) ? ['before', 'after'] : []) {
      for (let step = 1; step < mostSteps; step++) {
        writeFileSync(otherPlan, `${step} ${when}`);
        const next = `${when === 'before' ? 2 : 3}.0.${step}`;
        const ordered = other.offer(agentProgram(next));
        await other
          .order(ordered)
          .catch((error: unknown) => assert.ok(isSvcError(error), String(error)));
        const end = await other.ended(ordered.job_id);
        assert.equal(
          end.state,
          'succeeded',
          `a good one, killed ${when} step ${step}: ${end.error}`,
        );
        await other.serves(next);
        if (existsSync(otherPlan)) {
          rmSync(otherPlan);
          break;
        }
        kills++;
      }
    }
    rows.push({ payload: 'a good one', kills, end: 'succeeded' });
    return {
      ok: true,
      kills: rows.reduce((sum, row) => sum + Number(row['kills']), 0),
      payloads: rows,
    };
  } finally {
    for (const step of undo.reverse()) {
      await step();
    }
  }
}
