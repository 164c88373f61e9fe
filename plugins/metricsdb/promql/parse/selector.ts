import { isSvcError } from 'svc/sdk';
import { type Matcher, matcher, type MatchOp } from 'svc/query';

import type { VectorSelector } from './ast.ts';
import { unquoted } from './go-text.ts';
import type { Stream } from './token-stream.ts';
import type { Token } from './token.ts';

/** A selector that begins with a name, with or without braces behind it. */
export function selectorOf(stream: Stream, name: Token): VectorSelector {
  const named = matcher('__name__', '=', name.text);
  if (!stream.is('{')) {
    return {
      node: 'selector',
      name: name.text,
      matchers: [named],
      offset: 0,
      start: name.start,
      end: name.end,
    };
  }
  const braces = parseMatchers(stream);
  return { ...braces, name: name.text, matchers: [...braces.matchers, named], start: name.start };
}

/** `{a="b", "a name with blanks"}` */
export function parseMatchers(stream: Stream): VectorSelector {
  const { start } = stream.take();
  const matchers: Matcher[] = [];
  while (!stream.is('}')) {
    if (matchers.length > 0) {
      if (!stream.takeIf(',')) {
        stream.unexpected('label matching', '"," or "}"');
      }
      if (stream.is('}')) {
        break;
      }
    }
    matchers.push(parseMatcher(stream));
  }
  return { node: 'selector', name: '', matchers, offset: 0, start, end: stream.take().end };
}

function parseMatcher(stream: Stream): Matcher {
  const label = stream.peek();
  if (label.kind !== 'identifier' && label.kind !== 'string') {
    stream.unexpected('label matching', 'identifier or "}"');
  }
  stream.take();
  const name = label.kind === 'string' ? unquoted(label.text) : label.text;
  const op = stream.peek().word;
  if (!['=', '!=', '=~', '!~'].includes(op) || stream.peek().kind === 'string') {
    if (label.kind === 'string' && (stream.is(',') || stream.is('}'))) {
      return matcher('__name__', '=', name);
    }
    stream.unexpected(
      'label matching',
      label.kind === 'string' ? '"," or "}"' : 'label matching operator',
    );
  }
  stream.take();
  if (stream.peek().kind !== 'string') {
    stream.unexpected('label matching', 'string');
  }
  try {
    return matcher(name, op as MatchOp, unquoted(stream.take().text));
  } catch (error) {
    if (isSvcError(error)) {
      // The flag is how a dot comes to match a newline; the user did not write it.
      stream.fail(label.start, error.message.replace('`(?s)', '`'));
    }
    throw error;
  }
}
