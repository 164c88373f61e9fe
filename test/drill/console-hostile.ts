import type { Browser } from 'playwright-core';

import { say } from '../bench/tunnel-stand.ts';
import type { Outcome, Row } from '../exercise.ts';
import { openBrowser } from '../plugins/console/browser.ts';
import { type ConsoleHouse, startConsoleHouse } from '../plugins/console/console-house.ts';
import { everyPage, goToPage } from '../plugins/console/every-page.ts';
import { forgetAnswers, hostileAnswers, lookedAt } from '../plugins/console/hostile-answers.ts';
import { hostile } from '../plugins/console/hostile.ts';

/** Windows that are open at once. */
const windows = 2;

/** Findings of one round through all pages. */
interface Round {
  readonly shown: readonly {
    readonly page: string;
    readonly refuses: boolean;
    readonly shown: number;
  }[];
  readonly faults: readonly Row[];
  readonly complaints: readonly string[];
}

/**
 * Every page, as many times as there are hostile strings, so that each text that comes from outside is each of them once; then as often with
 * every answer a refusal in such words. `strings` does fewer of the rounds, `from` leaves out the first of them. CI goes through one round of
 * both (`every-page.test.ts`).
 */
export async function run({
  strings = hostile.length,
  from = 0,
}: {
  readonly strings?: number;
  readonly from?: number;
}): Promise<Outcome> {
  const endings: (() => unknown)[] = [];
  const browser = await openBrowser({
    after: (end: () => unknown) => void endings.push(end),
    skip: () => undefined,
  });
  if (!browser) {
    throw new Error('chromium is not installed (Debian: apt-get install chromium-headless-shell)');
  }
  const house = await startConsoleHouse();
  endings.push(() => house.end());
  const left = Array.from({ length: strings }, (_, at) => from + at);
  const rounds: Round[] = [];
  const work = async (): Promise<void> => {
    for (let string = left.shift(); string !== undefined; string = left.shift()) {
      rounds.push(await goRound(browser, house, string));
      say(
        `${rounds.length} of ${strings} rounds, ${rounds.reduce((sum, { faults }) => sum + faults.length, 0)} faults`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: windows }, work));
  } finally {
    for (const end of endings.toReversed()) {
      await end();
    }
  }
  return outcomeOf(rounds);
}

/** A fresh window each time: what one string has broken must not hide what the next one would. */
async function goRound(browser: Browser, house: ConsoleHouse, string: number): Promise<Round> {
  const view = await house.view(browser, {}, hostileAnswers);
  const shown: { page: string; refuses: boolean; shown: number }[] = [];
  const faults: Row[] = [];
  for (const refuses of [false, true]) {
    await forgetAnswers(view.page);
    for (const one of everyPage) {
      await view.page.evaluate(`globalThis.shift = ${string}; globalThis.refuses = ${refuses}`);
      try {
        await goToPage(view.page, { ...one, sign: undefined });
        const look = await lookedAt(view.page);
        shown.push({ page: one.name, refuses, shown: look.shown });
        faults.push(
          ...look.faults.map((fault) => ({
            page: one.name,
            string,
            refuses,
            fault: fault.slice(0, 200),
          })),
        );
      } catch (error) {
        faults.push({
          page: one.name,
          string,
          refuses,
          fault: String(error).split('\n')[0]!.slice(0, 200),
        });
      }
    }
  }
  view.forgive(/40\d/);
  const { complaints } = view;
  await view.context.close();
  return { shown, faults, complaints };
}

function outcomeOf(rounds: readonly Round[]): Outcome {
  const faults = rounds.flatMap((round) => round.faults);
  const complaints = rounds.flatMap((round) => round.complaints);
  const all = rounds.flatMap((round) => round.shown);
  const sum = (of: readonly { readonly shown: number }[]): number =>
    of.reduce((total, { shown }) => total + shown, 0);
  return {
    ok: faults.length === 0 && complaints.length === 0,
    strings: rounds.length,
    shown: sum(all),
    complaints: complaints.slice(0, 5).join(' | '),
    pages: everyPage.map(({ name }) => ({
      page: name,
      shown: sum(all.filter(({ page, refuses }) => page === name && !refuses)),
      refusals: sum(all.filter(({ page, refuses }) => page === name && refuses)),
      faults: faults.filter(({ page }) => page === name).length,
    })),
    faults: faults.slice(0, 50),
  };
}
