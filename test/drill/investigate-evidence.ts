import type { Outcome } from '../exercise.ts';
import { hour, minute } from '../plugins/alert/engine-house.ts';
import { fedHouse } from '../plugins/investigate/fed-house.ts';

/**
 * Makes consecutive reports of one ongoing incident, from stores that are written to all the time:
 * afterwards every piece of their evidence is queried again from its own text, and must have the
 * stored digest: of the whole answer, or of all of it up to where the report said that samples were
 * in flight.
 */
export async function run({
  reports = 100,
  hours = 2,
}: { readonly reports?: number; readonly hours?: number } = {}): Promise<Outcome> {
  const ends: (() => unknown)[] = [];
  try {
    const house = await fedHouse(
      { after: (end: () => unknown) => void ends.unshift(end) },
      {
        seed: 'evidence',
        count: 4,
        requestsPerMinute: 20,
        logsPerSecond: 0.05,
        fault: { kind: 'disk', host: 2, after: hours * hour },
      },
    );
    await house.pass(hours * hour);
    const incident = await house.watchFailures();
    const made = [(await house.report(incident)).id!];
    while (made.length < reports) {
      await house.pass(minute / 2, minute / 2);
      await house.json(`/api/v1/alerts/incidents/${incident}/investigation`, {
        method: 'POST',
        body: '{}',
      });
      made.push((await house.report(incident)).id!);
    }
    await house.pass(30 * minute);
    let asked = 0;
    let late = 0;
    const other: string[] = [];
    for (const id of made) {
      const found = await house.askedAgain(id);
      asked += found.asked;
      late += found.late.length;
      other.push(...found.other);
    }
    return {
      ok: new Set(made).size === reports && other.length === 0,
      reports: new Set(made).size,
      evidence: asked,
      'late samples after what was settled': late,
      other: other.length,
      which: other.slice(0, 5).join('; '),
    };
  } finally {
    for (const end of ends) {
      await end();
    }
  }
}
