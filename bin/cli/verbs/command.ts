import { type Command, clientOptions, openClient } from 'svc/cli';
import { questionOf } from './question.ts';
import { givenTo, numbered, send } from './request.ts';
import { shown } from './show.ts';
import type { Verb } from '../../manifest/verb.ts';

/** Returns the command of a verb: arguments become a request, and the answer a text. */
export function commandOf(verb: Verb, words: string): Command {
  const { operands, options, about, example, progress, expect } = verb;
  return {
    operands: operands.map(({ name, optional }) => (optional ? `[${name}]` : `<${name}>`)),
    options: { ...options, ...clientOptions },
    about,
    example,
    async run(call, shell) {
      const typed = givenTo(verb, call);
      const client = await openClient(call, shell);
      const given = await numbered(verb, typed, client);
      const ask = () => send(verb, given, client);
      let answer: Readonly<Record<string, unknown>>;
      try {
        answer = (await (progress === undefined
          ? ask()
          : shell.progress(progress, ask))) as typeof answer;
      } catch (error) {
        const question = questionOf(error, words, verb, call);
        if (question === undefined) {
          throw error;
        }
        return question;
      }
      return {
        data: answer,
        text: (paint) => shown(verb, { ...given, ...answer }, paint),
        code: expect === undefined || answer[expect.field] === expect.value ? 0 : 1,
      };
    },
  };
}
