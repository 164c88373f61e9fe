import type { Outcome, Row } from '../exercise.ts';
import { openBrowser } from '../plugins/console/browser.ts';
import { startConsoleHouse } from '../plugins/console/console-house.ts';
import { everyPage, goToPage } from '../plugins/console/every-page.ts';
import { hostileAnswers, lookedAt } from '../plugins/console/hostile-answers.ts';
import { hostile } from '../plugins/console/hostile.ts';

/**
 * Every page, as many times as there are hostile strings, so that each text that comes from outside is each of them once; then as often with
 * every answer a refusal in such words. `strings` does fewer of the rounds. CI goes through one round of both (`every-page.test.ts`).
 */
export async function run({ strings = hostile.length }: { readonly strings?: number }): Promise<Outcome> {
  const endings: (() => unknown)[] = [];
  const browser = await openBrowser({ after: (end: () => unknown) => void endings.push(end), skip: () => undefined });
  if (!browser) {
    throw new Error('chromium is not installed (Debian: apt-get install chromium)');
  }
  const house = await startConsoleHouse();
  endings.push(() => house.end());
  const rows = new Map(everyPage.map(({ name }) => [name, { page: name, shown: 0, refusals: 0, faults: 0 }]));
  const faults: Row[] = [];
  let complaints: readonly string[] = [];
  try {
    for (let round = 0; round < strings; round += 1) {
      // A fresh window each time: what one string has broken must not hide what the next one would.
      const view = await house.view(browser, {}, hostileAnswers);
      for (const refuses of [false, true]) {
        for (const one of everyPage) {
          await view.page.evaluate(`globalThis.shift = ${round}; globalThis.refuses = ${refuses}`);
          try {
            await goToPage(view.page, { ...one, sign: undefined });
            const look = await lookedAt(view.page);
            rows.get(one.name)![refuses ? 'refusals' : 'shown'] += look.shown;
            faults.push(...look.faults.map((fault) => ({ page: one.name, string: round, refuses, fault: fault.slice(0, 200) })));
          } catch (error) {
            faults.push({ page: one.name, string: round, refuses, fault: String(error).split('\n')[0]!.slice(0, 200) });
          }
        }
      }
      view.forgive(/40\d/);
      complaints = [...complaints, ...view.complaints];
      await view.context.close();
    }
  } finally {
    for (const end of endings.toReversed()) {
      await end();
    }
  }
  faults.forEach(({ page }) => (rows.get(String(page))!.faults += 1));
  return {
    ok: faults.length === 0 && complaints.length === 0,
    strings,
    ...{ shown: [...rows.values()].reduce((sum, { shown, refusals }) => sum + shown + refusals, 0), complaints: complaints.slice(0, 5).join(' | ') },
    pages: [...rows.values()],
    faults: faults.slice(0, 50),
  };
}
