import type { ApiClient, Environment, Reachable, Shell } from 'svc/cli';

import { FakeModel } from '../fake-model/fake-model.ts';
import { ask, type Copies } from './ask.ts';
import type { Case } from './case.ts';
import { askEngine } from './engine.ts';
import { groundPlugins, incidentsOf, prepareGround, setValue } from './ground.ts';
import { HeldClock } from './held-clock.ts';
import { Judge } from './judge.ts';
import { signInPerson } from './person.ts';
import { record, type Recorder, recordedModel, replay } from './recorder.ts';
import { type Answered, verdictOf } from './rubric.ts';
import { type Current, scriptedRules } from './scripted.ts';
import { offeredTools } from './shipped.ts';
import { type Column, columnOf, type Outcome, type Price } from './table.ts';
import { ToolServer } from './tool-server.ts';
import { vendorUrl } from './vendors.ts';
import type { World } from './world.ts';

export interface BenchOptions {
  readonly cases: readonly Case[];
  readonly worlds: readonly World[];
  /** `engine`, `scripted`, or `<provider>/<model>`. */
  readonly models: readonly string[];
  readonly judge?: string;
  readonly price?: Price;
  readonly record?: string;
  readonly replay?: string;
  readonly environment: Environment;
  readonly each: (done: number) => void;
}

interface Bench extends BenchOptions {
  readonly client: ApiClient;
  readonly person: ApiClient;
  readonly server: ToolServer;
  readonly incidents: ReadonlyMap<string, number>;
  readonly copies: Copies;
}

const offered = offeredTools.map(({ name }) => name);

/** Asks every case of every model, in one temporary svc that holds all worlds. */
export async function benched(
  shell: Pick<Shell, 'askEmpty'>,
  options: BenchOptions,
): Promise<readonly Column[]> {
  const used = new Set(options.cases.map(({ world }) => world));
  const worlds = withRules(
    options.worlds.filter(({ name }) => used.has(name)),
    options.cases,
  );
  const server = await ToolServer.start(offeredTools);
  const clock = new HeldClock();
  const ask = async (client: ApiClient, at: Reachable): Promise<readonly Column[]> => {
    await prepareGround(client, at, {
      worlds,
      tools: offeredTools,
      server,
      environment: options.environment,
    });
    const incidents = await incidentsOf(client, worlds);
    clock.hold();
    const person = await signInPerson(client, at);
    const bench: Bench = {
      ...options,
      worlds,
      client,
      person,
      server,
      incidents,
      copies: new Map(),
    };
    const columns: Column[] = [];
    for (const model of options.models) {
      columns.push(columnOf(model, await outcomesOf(bench, model), options.price));
    }
    return columns;
  };
  try {
    return await shell.askEmpty(groundPlugins, ask, { clock });
  } finally {
    await server.close();
  }
}

/**
 * Returns worlds with the rules that a case asks about only: what fires beside them would be
 * investigated with the model that is measured.
 */
const withRules = (worlds: readonly World[], cases: readonly Case[]): readonly World[] => {
  const asked = new Set(cases.flatMap(({ incident }) => incident ?? []));
  return worlds.map((world) => ({
    ...world,
    rules: (world.rules ?? []).filter(({ key }) => asked.has(key)),
  }));
};

async function outcomesOf(bench: Bench, model: string): Promise<readonly Outcome[]> {
  if (model === 'engine') {
    return await eachCase(bench, undefined, (asked, question) =>
      askEngine(
        asked,
        question,
        bench.client,
        asked.incident === undefined ? undefined : bench.incidents.get(asked.incident),
      ),
    );
  }
  let current: Current = { asked: bench.cases[0]!, incident: undefined };
  const scripted =
    model === 'scripted'
      ? await FakeModel.start({ rules: scriptedRules(() => current, offered) })
      : undefined;
  const recorder = await recorderOf(bench, model, scripted);
  try {
    const name = scripted === undefined ? model : 'compatible/demo';
    const standing = bench.replay === undefined ? name : recordedModel(bench.replay);
    await pointTo(bench.client, standing, recorder?.url ?? scripted?.url);
    const judge =
      bench.judge === undefined ? undefined : await Judge.create(bench.client, bench.judge);
    return await eachCase({ ...bench, judgeModel: judge }, recorder, (asked, question) => {
      current = {
        asked,
        incident: asked.incident === undefined ? undefined : bench.incidents.get(asked.incident),
      };
      return ask(asked, question, {
        client: bench.client,
        person: bench.person,
        server: bench.server,
        model: standing,
        offered: offeredTools,
        copies: bench.copies,
      });
    });
  } finally {
    await recorder?.close();
    await scripted?.close();
  }
}

async function recorderOf(
  { record: to, replay: from, environment }: Bench,
  model: string,
  scripted: FakeModel | undefined,
): Promise<Recorder | undefined> {
  if (from !== undefined) {
    return await replay(from);
  }
  return to === undefined
    ? undefined
    : await record(
        to,
        scripted === undefined ? model : 'compatible/demo',
        scripted?.url ?? vendorUrl(model, environment),
      );
}

/** Lets svc ask a provider at another address; a provider that needs a key is content with any there. */
async function pointTo(client: ApiClient, model: string, url: string | undefined): Promise<void> {
  if (url === undefined) {
    return;
  }
  const provider = model.split('/', 1)[0]!;
  await setValue(client, `llm.${provider}_base_url`, url);
  if (!['compatible', 'ollama', 'vllm', 'litellm'].includes(provider)) {
    const { items } = await client.get<{ items: readonly { key: string; is_set?: boolean }[] }>(
      '/api/v1/system-settings?limit=500',
    );
    const key = items.find((item) => item.key === `llm.${provider}_api_key`);
    if (key?.is_set !== true) {
      await setValue(client, `llm.${provider}_api_key`, 'recorded');
    }
  }
}

async function eachCase(
  bench: Bench & { readonly judgeModel?: Judge | undefined },
  recorder: Recorder | undefined,
  answer: (asked: Case, question: string) => Promise<Answered>,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const asked of bench.cases) {
    const world = bench.worlds.find(({ name }) => name === asked.world)!;
    bench.server.answerWith([...(asked.answers ?? []), ...(world.answers ?? [])]);
    recorder?.turnTo(asked.id);
    const incident =
      asked.incident === undefined ? '' : String(bench.incidents.get(asked.incident));
    const answered = await answer(asked, asked.question.replaceAll('{incident}', incident));
    outcomes.push(await outcomeOf(asked, answered, bench.judgeModel, recorder));
    bench.each(outcomes.length);
  }
  return outcomes;
}

async function outcomeOf(
  asked: Case,
  answered: Answered,
  judge: Judge | undefined,
  recorder: Recorder | undefined,
): Promise<Outcome> {
  const { missing, wrong } = verdictOf(asked, answered);
  const judged = judge !== undefined && missing.length > 0 && wrong.length === 0;
  const still = judged ? await judge.missingIn(asked, answered.text, missing) : missing;
  return {
    id: asked.id,
    subject: asked.subject,
    passed: still.length === 0 && wrong.length === 0,
    judged: judged && still.length < missing.length,
    missing: still,
    wrong,
    answered,
    changed: recorder?.changes.get(asked.id) ?? [],
  };
}
