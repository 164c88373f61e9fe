import type { Command } from '../command.ts';
import { clientOptions, openClient } from '../client-options.ts';
import { withProgress } from '../progress.ts';
import { givenTo, send } from './request.ts';
import { shown } from './show.ts';
import type { Verb } from './verb.ts';

/** Runs a verb: what was typed becomes a request, and the answer a text. */
export function commandOf(verb: Verb): Command {
  const { operands, options, about, example, progress, expect } = verb;
  return {
    operands: operands.map(({ name, optional }) => (optional ? `[${name}]` : `<${name}>`)),
    options: { ...options, ...clientOptions },
    about,
    example,
    async run(call) {
      const given = givenTo(verb, call);
      const client = await openClient(call);
      const ask = () => send(verb, given, client);
      const answer = (await (progress === undefined ? ask() : withProgress(progress, ask))) as Readonly<Record<string, unknown>>;
      return {
        data: answer,
        text: (paint) => shown(verb, { ...given, ...answer }, paint),
        code: expect === undefined || answer[expect.field] === expect.value ? 0 : 1,
      };
    },
  };
}
