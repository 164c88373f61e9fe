import type { GateAnswer } from 'svc/contracts/gate';
import type { ModelPart, ModelRequest, Models } from 'svc/contracts/model';
import type { KnownPersona, PersonaDirectory } from 'svc/contracts/persona';
import type {
  SkillList,
  SkillRegistry,
  SkillRunner,
  Tool,
  ToolCall,
  ToolOutcome,
} from 'svc/contracts/skill';

export const persona = (over: Partial<KnownPersona> = {}): KnownPersona => ({
  name: 'coordinator',
  description: 'Answers.',
  when_to_use: 'Always.',
  tools: [],
  disallowed_tools: [],
  permission_mode: 'read-only',
  max_turns: 0,
  model: '',
  critical_reminder: '',
  initial_prompt: '',
  background: false,
  omit_agent_md: false,
  metadata: {},
  unknown: {},
  body: 'You answer.',
  source: 'builtin',
  version: 1,
  unmet: [],
  ...over,
});

export const directory = (...personas: readonly KnownPersona[]): PersonaDirectory => ({
  list: () => personas,
  find: (name) => personas.find((each) => each.name === name),
  route: async () => ({
    persona: personas[0]!,
    why: 'the only one',
    clear: true,
    candidates: [],
  }),
  initialPrompt: (each) => each.initial_prompt,
});

const usage = { input_tokens: 10, output_tokens: 5, cached_tokens: 0, estimated: false };

export const say = (text: string): readonly ModelPart[] => [
  ...text.split(/(?<= )/).map((delta): ModelPart => ({ type: 'text', delta })),
  { type: 'end', finish: 'stop', usage, model: 'fake/one' },
];

export const call = (...calls: readonly (readonly [string, object])[]): readonly ModelPart[] => [
  ...calls.flatMap(([name, args], index): ModelPart[] => [
    { type: 'call-start', index, name },
    { type: 'call-delta', index, delta: JSON.stringify(args) },
    {
      type: 'call',
      index,
      name,
      args: args as Record<string, unknown>,
      text: JSON.stringify(args),
    },
  ]),
  { type: 'end', finish: 'tool-calls', usage, model: 'fake/one' },
];

/** A model that answers by a script, turn by turn, and keeps what it was asked. */
export class ScriptedModels implements Models {
  readonly asked: ModelRequest[] = [];
  readonly #script: (
    | readonly ModelPart[]
    | ((request: ModelRequest) => AsyncIterable<ModelPart>)
  )[];

  constructor(
    ...script: readonly (
      | readonly ModelPart[]
      | ((request: ModelRequest) => AsyncIterable<ModelPart>)
    )[]
  ) {
    this.#script = [...script];
  }

  usable(model: string) {
    return { ok: true as const, model: model === '' ? 'fake/one' : model, context: 32_000 };
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
    this.asked.push(request);
    const next = this.#script.shift();
    if (next === undefined) {
      throw new Error('the script is over');
    }
    yield* typeof next === 'function' ? next(request) : next;
  }
}

export const tool = (over: Partial<Tool> & Pick<Tool, 'key'>): Tool => ({
  name: over.key,
  description: `Does ${over.key}.`,
  scope: 'manager',
  class: 'safe',
  tier: 'core',
  schema: { type: 'object' },
  source: 'test',
  trust: 'trusted',
  ...over,
});

export function registry(...tools: readonly Tool[]): SkillRegistry {
  const list: SkillList = {
    tools: () => tools,
    guides: () => [],
    tool: (key) => tools.find((each) => each.key === key),
    aliases: () => new Map(tools.map((each) => [each.key.replaceAll('.', '_'), each])),
  };
  return { ...list, shownTo: async () => list };
}

export class ScriptedRunner implements SkillRunner {
  readonly ran: ToolCall[] = [];
  readonly #tools: SkillRegistry;
  readonly #answer: (call: ToolCall) => Promise<unknown>;
  readonly verdict: (call: ToolCall) => GateAnswer;

  constructor(
    tools: SkillRegistry,
    answer: (call: ToolCall) => Promise<unknown>,
    verdict: (call: ToolCall) => GateAnswer = () => ({ verdict: 'run' }),
  ) {
    this.#tools = tools;
    this.#answer = answer;
    this.verdict = verdict;
  }

  plan(ask: ToolCall) {
    const found = this.#tools.tool(ask.key)!;
    return Promise.resolve({
      tool: found,
      params: ask.params,
      answer: this.verdict(ask),
      target: { kind: 'manager' as const, id: undefined, name: 'manager' },
      rendered: ask.key,
    });
  }

  async run(ask: ToolCall): Promise<ToolOutcome> {
    const number = this.ran.push(ask);
    const result = await this.#answer(ask);
    const evidence = {
      id: `E${number}`,
      tool: ask.key,
      bytes: 10,
      sha256: 'x',
      truncated: false,
      trust: this.#tools.tool(ask.key)!.trust,
    };
    return {
      execution_id: `x${number}`,
      status: 'ok',
      result,
      error: undefined,
      duration_ms: 1,
      trust: evidence.trust,
      evidence,
    };
  }
}
