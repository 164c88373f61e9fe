import { RE2JS } from 're2js';

import { type ChatRequest, textOf } from './chat-request.ts';
import { isMisbehaviour, type Misbehaviour } from './misbehaviour.ts';

/** When a rule holds; of several conditions all must. */
export interface When {
  /** Turn of the conversation: 1 while the history contains no answer. */
  readonly turn?: number;
  /** A regular expression (RE2) that the last message must match, case ignored. */
  readonly last?: string;
  /** Tools that must be offered. */
  readonly tools?: readonly string[];
  /** Text that the system prompt must contain. */
  readonly system?: string;
  readonly model?: string;
}

export interface ScriptedCall {
  readonly name: string;
  /** A text is sent as it is, whatever it is. */
  readonly arguments?: unknown;
  /** Default: one that the server makes. */
  readonly id?: string;
}

export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly ScriptedCall[];
  readonly finish_reason?: 'stop' | 'tool_calls' | 'length' | 'content_filter';
  /** Default: counted. */
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  /** Error instead of an answer. */
  readonly error?: {
    readonly status: number;
    readonly message?: string;
    readonly code?: string;
    readonly retry_after?: number;
  };
  readonly misbehave?: readonly Misbehaviour[];
}

/** Tests may compute an answer; a file can only say it. */
export interface Rule {
  readonly when?: When;
  readonly reply: Reply | ((request: ChatRequest) => Reply);
  /** Number of uses, after which the rule is skipped. */
  readonly times?: number;
}

/** The answers of a scripted model: the first rule that holds gives them. */
export class Script {
  readonly #rules: { readonly rule: Rule; readonly last: RE2JS | undefined; left: number }[];

  constructor(rules: readonly Rule[]) {
    this.#rules = rules.map((rule) => ({
      rule,
      last:
        rule.when?.last === undefined
          ? undefined
          : RE2JS.compile(rule.when.last, RE2JS.CASE_INSENSITIVE),
      left: rule.times ?? Number.POSITIVE_INFINITY,
    }));
  }

  answer(request: ChatRequest): Reply | undefined {
    const found = this.#rules.find(
      ({ rule, last, left }) => left > 0 && holds(rule.when ?? {}, last, request),
    );
    if (!found) {
      return undefined;
    }
    found.left -= 1;
    const { reply } = found.rule;
    return typeof reply === 'function' ? reply(request) : reply;
  }
}

function holds(
  { turn, tools, system, model }: When,
  last: RE2JS | undefined,
  request: ChatRequest,
): boolean {
  const { messages } = request;
  const given = request['tool_choice'] === 'none' ? [] : (request.tools ?? []);
  const offered = new Set(given.map((tool) => tool.function.name));
  const systemText = messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(textOf);
  return (
    (turn === undefined ||
      turn === 1 + messages.filter(({ role }) => role === 'assistant').length) &&
    (last === undefined || last.matcher(textOf(messages.at(-1)!)).find()) &&
    (tools === undefined || tools.every((name) => offered.has(name))) &&
    (system === undefined || systemText.some((text) => text.includes(system))) &&
    (model === undefined || model === request.model)
  );
}

const whenFields = ['turn', 'last', 'tools', 'system', 'model'];
const replyFields = [
  'text',
  'reasoning',
  'tool_calls',
  'finish_reason',
  'usage',
  'error',
  'misbehave',
];

/** The rules of a script file; throws a sentence that says which rule is wrong. */
export function rulesOf(text: string): readonly Rule[] {
  const parsed: unknown = JSON.parse(text);
  const rules = Array.isArray(parsed) ? parsed : isRecord(parsed) ? parsed['rules'] : undefined;
  if (!Array.isArray(rules)) {
    throw new TypeError('a script is {"rules": [{"when": {…}, "reply": {…}}, …]}');
  }
  return rules.map((rule: unknown, index) => checked(rule, `rule ${index + 1}`));
}

function checked(rule: unknown, place: string): Rule {
  if (
    !isRecord(rule) ||
    !isRecord(rule['reply']) ||
    !(rule['when'] === undefined || isRecord(rule['when']))
  ) {
    throw new TypeError(`${place} has no "reply", or a "when" that is not an object`);
  }
  onlyOf(rule, ['when', 'reply', 'times'], place);
  onlyOf(rule['when'] ?? {}, whenFields, `${place}, when`);
  onlyOf(rule['reply'], replyFields, `${place}, reply`);
  const { misbehave = [] } = rule['reply'];
  const unknown = Array.isArray(misbehave)
    ? misbehave.find((name) => !isMisbehaviour(String(name)))
    : misbehave;
  if (unknown !== undefined) {
    throw new TypeError(
      `${place}: there is no misbehaviour ${JSON.stringify(unknown)}; "svc fake-model --help" lists them`,
    );
  }
  return rule as unknown as Rule;
}

function onlyOf(record: object, fields: readonly string[], place: string): void {
  const unknown = Object.keys(record).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    throw new TypeError(
      `${place} has the unknown field "${unknown}"; known fields: ${fields.join(', ')}`,
    );
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
