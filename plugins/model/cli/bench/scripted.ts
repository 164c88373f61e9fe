import { type ChatRequest, textOf } from '../fake-model/chat-request.ts';
import type { Reply, Rule } from '../fake-model/script.ts';
import type { Case, Fact, Step } from './case.ts';
import { site } from './ground.ts';
import { quoteOf, shownFact } from './rubric.ts';

/** Case that is being asked, with the number of its incident. */
export interface Current {
  readonly asked: Case;
  readonly incident: number | undefined;
}

/**
 * Rules of the scripted model: it makes the calls that a case names, then quotes the facts of the
 * rubric from their results. It reads the key, so its score says that the facts can be reached and
 * that the scoring works, and nothing about answers.
 */
export const scriptedRules = (
  current: () => Current,
  offered: readonly string[],
): readonly Rule[] => [
  {
    reply: (request) => {
      const { asked, incident } = current();
      const { messages } = request;
      const opening = messages.findIndex(({ role }) => role === 'user');
      const made = messages.slice(opening).filter(({ role }) => role === 'assistant').length;
      const step = walkOf(asked, offered)[made];
      return step === undefined
        ? { text: answerTo(asked, messages) }
        : callOf(step, messages, { incident, offered });
    },
  },
];

/** Returns the calls of a case; tools that svc does not offer at once are looked up before. */
function walkOf({ walk = [] }: Case, offered: readonly string[]): readonly Step[] {
  const own = [...new Set(walk.map(([tool]) => tool))].filter((tool) => offered.includes(tool));
  return own.length === 0
    ? walk
    : [['tool_search', { select: own.map((tool) => `mcp:${site}:${tool}`) }], ...walk];
}

function callOf(
  [tool, args]: Step,
  messages: ChatRequest['messages'],
  {
    incident,
    offered,
  }: { readonly incident: number | undefined; readonly offered: readonly string[] },
): Reply {
  const name = offered.includes(tool) ? `mcp:${site}:${tool}` : tool;
  const last = textOf(messages.at(-1)!);
  const value = (given: unknown): unknown =>
    given === '$incident'
      ? incident
      : given === '$trace'
        ? (/\b[0-9a-f]{32}\b/.exec(last)?.[0] ?? '')
        : given === '$node'
          ? Number(/"id":\s*(\d+)/.exec(last)?.[1] ?? 0)
          : given;
  return {
    tool_calls: [
      {
        name: name.replaceAll(/[^\w-]/g, '_'),
        arguments: Object.fromEntries(
          Object.entries(args).map(([key, given]) => [key, value(given)]),
        ),
      },
    ],
  };
}

function answerTo({ must = [], unknown = false }: Case, messages: ChatRequest['messages']): string {
  const results = messages
    .filter(({ role }) => role === 'tool')
    .map(textOf)
    .filter((text) => !text.includes('"refused"'));
  const quote = (fact: Fact): string | undefined =>
    results.map((text) => quoteOf(fact, text)).find((found) => found !== undefined);
  const lines = must.map((fact) => {
    const found = quote(fact);
    return found === undefined ? `(${shownFact(fact).length} characters not reached)` : found;
  });
  const first = unknown
    ? 'I do not know: the data that I can see does not say it.'
    : 'This is what the tools say:';
  return [first, ...lines].join('\n');
}
