import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';

import { rounds } from '../../drill/rounds.ts';
import { type ChatRequest, textOf } from '../../../plugins/model/cli/fake-model/chat-request.ts';
import type { Reply } from '../../../plugins/model/cli/fake-model/script.ts';
import type { Mischief } from './fakes.ts';
import { type Act, type ImApp, type ImOffice, imOffice, providers } from './office.ts';

/** What happens in a conversation. */
const kinds = [
  'plain',
  'long',
  'endless',
  'formatted',
  'rapid',
  'edited',
  'threaded',
  'limited',
  'down',
  'reset',
  'lost-answer',
  'expired',
  'refused',
  'wordy',
] as const;
type Kind = (typeof kinds)[number];

/** A question, and what its answer must be: whole, a sentence with the reason, or none since another version was answered. */
interface Question {
  readonly tag: string;
  readonly app: ImApp;
  readonly kind: Kind;
  isReplaced?: boolean;
}

const faults: ReadonlySet<string> = new Set(['limited', 'down', 'reset', 'lost-answer', 'expired']);
/** Paragraphs of an answer, by what is asked for. */
const lengths: Readonly<Partial<Record<Kind, number>>> = { long: 90, endless: 420 };
const formatted = [
  '## What **happened** <on> & after',
  '| host | load |\n|---|---|\n| web-1 | 90 % |',
  '```sh\necho "<b>" && cat <<EOF\n```',
  '- *one* _two_ `three`\n- [a link](https://example.org/a_b) 😀 日本語',
  '**open and <unclosed',
].join('\n\n');

const tagIn = (text: string): string => /q-\d+-\d+/.exec(text)?.[0] ?? 'none';

/** The whole answer: its first and last words name the question, and so does every paragraph. */
function answerTo(kind: Kind, tag: string): string {
  const paragraphs = Array.from(
    { length: lengths[kind] ?? 1 },
    (_, at) => `${tag}#${at}. The load of web-${at} was as in each of the hours before it.`,
  );
  const body = kind === 'formatted' ? formatted : paragraphs.join('\n\n');
  return `Begin ${tag}.\n\n${body}\n\nEnd ${tag}.`;
}

function reply(request: ChatRequest): Reply {
  const text = textOf(request.messages.findLast(({ role }) => role === 'user')!);
  const own = text.split('What goes with it')[0]!;
  const kind = kinds.find((each) => own.includes(`(${each})`)) ?? 'plain';
  return kind === 'refused'
    ? { error: { status: 400, message: 'this is not answered' } }
    : { text: answerTo(kind, tagIn(own)) };
}

/** Says what a conversation consists of, and returns its questions. */
async function hold(
  office: ImOffice,
  app: ImApp,
  kind: Kind,
  number: number,
): Promise<readonly Question[]> {
  const person = { from: `U${number}` };
  const group = { to: `C${number}`, direct: false };
  let count = 0;
  const ask = async (act: Partial<Act> = {}): Promise<Question> => {
    const tag = `q-${number}-${count++}`;
    const filler = kind === 'wordy' ? ' and so on'.repeat(3_000) : '';
    await office.say(app, { ...person, text: `What of ${tag} (${kind})?${filler}`, ...act });
    return { tag, app, kind };
  };
  switch (kind) {
    case 'rapid':
      return await Promise.all([ask(), ask(), ask()]);
    case 'edited': {
      const tells = app.provider === 'slack' || app.provider === 'telegram';
      const id = String(900_000 + number);
      const before = await ask({ id });
      return tells
        ? [{ ...before, isReplaced: true }, await ask({ edits: id })]
        : [before, await ask()];
    }
    case 'threaded':
      return app.provider === 'wecom'
        ? [await ask()]
        : [await ask(group), await ask({ ...group, from: `U${number + 1_000}` })];
    default:
      return [await ask()];
  }
}

/** Returns what is wrong with the answer to a question; undefined if it is whole, once. */
function wrongWith({ tag, app, kind, isReplaced = false }: Question): string | undefined {
  const standing = app.fake.standing.map(({ text, raw }) => ({
    text,
    isFile: raw['file'] !== undefined,
  }));
  const times = (words: string, isFile: boolean): number =>
    standing.filter((one) => one.isFile === isFile && one.text.includes(words)).length;
  if (kind === 'refused') {
    return undefined;
  }
  const [begun, ended, filed] = [
    times(`Begin ${tag}.`, false),
    times(`End ${tag}.`, false),
    times(`End ${tag}.`, true),
  ];
  if (isReplaced && begun === 0) {
    return undefined;
  }
  if (begun + ended + filed === 0) {
    return unanswered;
  }
  if (begun !== 1 || ended + filed !== 1) {
    return `begun ${begun} times, ended ${ended} times, and in ${filed} files`;
  }
  const shown = standing.filter(({ isFile }) => isFile === (filed === 1));
  const found = shown.flatMap(({ text }) =>
    [...text.matchAll(new RegExp(`${tag}#(\\d+)\\.`, 'g'))].map(([, at]) => Number(at)),
  );
  const expected = kind === 'formatted' ? [] : [...Array(lengths[kind] ?? 1).keys()];
  return found.join() === expected.join() ? undefined : `${found.length} of ${expected.length}`;
}

const unanswered = 'unanswered';
const patienceMs = rounds(60_000, 400_000);
const each = rounds(kinds.length, 60);

test(`five platforms, ${each} conversations each: every question has one whole answer, or a sentence that says why not`, async (t) => {
  const office = await imOffice(t, [{ reply }]);
  const asked: Question[] = [];
  await Promise.all(
    providers.map(async (provider, at) => {
      const numbers = Array.from({ length: each }, (_, number) => at * 60 + number);
      const app = await office.connect(provider, {
        allow_from: numbers.flatMap((one) => [`U${one}`, `U${one + 1_000}`]),
      });
      for (const number of numbers) {
        const kind = kinds[(number - at * 60) % kinds.length]!;
        // A platform that knows no repeats shows what it took without saying so: that is its own.
        const isLost = kind === 'lost-answer' && !['slack', 'feishu'].includes(provider);
        // The token of a bot of Slack ends only where an administrator has it end, and then for good.
        const isOver = kind === 'expired' && provider === 'slack';
        if (faults.has(kind) && !isLost && !isOver) {
          app.fake.mischief.push(kind as Mischief);
        }
        asked.push(...(await hold(office, app, kind, number)));
      }
    }),
  );
  const problems = () =>
    asked.flatMap((question) => {
      const wrong = wrongWith(question);
      return wrong === undefined
        ? []
        : [{ wrong, which: `${question.app.provider} ${question.kind} ${question.tag}` }];
    });
  const broken = () => problems().filter(({ wrong }) => wrong !== unanswered);
  const silent = () => problems().filter(({ wrong }) => wrong === unanswered);
  const refused = asked.filter(({ kind }) => kind === 'refused');
  const excuses = () =>
    [...new Set(asked.map(({ app }) => app))].flatMap(({ fake }) =>
      fake.standing.filter(({ text }) => text.startsWith('No answer:')),
    ).length;
  const unfinished = () =>
    [...new Set(asked.map(({ app }) => app))].flatMap(({ provider, fake }) =>
      fake.standing.flatMap(({ text }) =>
        /^Working on it|^…$/.test(text) ? [`${provider}: ${text}`] : [],
      ),
    );
  // A sentence with the reason takes the place of an answer, never stands beside one.
  const isDone = (): boolean =>
    unfinished().length === 0 &&
    broken().length === 0 &&
    excuses() === refused.length + silent().length;
  for (let waited = 0; waited < patienceMs && !isDone(); waited += 250) {
    await pause(250);
  }
  const found = { broken: broken(), silent: silent(), unfinished: unfinished() };
  assert.ok(
    isDone(),
    `${excuses()} sentences for ${refused.length} refused: ${JSON.stringify(found)}`,
  );
  assert.ok(found.silent.length <= asked.length / 20, JSON.stringify(found.silent));
});
