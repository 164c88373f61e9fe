import { type ChatRequest, textOf } from './chat-request.ts';
import type { Reply, Rule } from './script.ts';

const shownChars = 600;

/**
 * Behaviour of the model without a script: it obeys `call NAME {…}`, reports the result, and
 * otherwise says what it could call.
 */
export const demo: readonly Rule[] = [
  { when: { last: '^\\s*call\\s+\\S+|\\bcall\\s+\\S+\\s*\\{' }, reply: calling },
  { reply: telling },
];

function calling({ messages }: ChatRequest): Reply {
  const last = messages.at(-1)!;
  const [, name = '', text = ''] = /\bcall\s+(\S+)[^\S\n]*(\{[^\n]*\})?/i.exec(textOf(last)) ?? [];
  return last.role === 'user'
    ? { tool_calls: [{ name, arguments: text === '' ? {} : text }] }
    : reporting(textOf(last));
}

function telling({ messages, tools = [] }: ChatRequest): Reply {
  const last = messages.at(-1)!;
  if (last.role === 'tool') {
    return reporting(textOf(last));
  }
  const names = tools.map((tool) => tool.function.name);
  return {
    text:
      names.length === 0
        ? 'I am a scripted model, and no tools are available to me, so I can only talk.'
        : `I am a scripted model. Say "call NAME {…}" and I call one of my tools: ${names.join(', ')}.`,
  };
}

function reporting(told: string): Reply {
  // What svc adds for the turn is not the tool's.
  const result = told.replace(/\s*<system-reminder>[\s\S]*$/, '');
  return {
    text: `The tool answered:\n\n${result.slice(0, shownChars)}${result.length > shownChars ? ' …' : ''}`,
  };
}
