import type { ImForm, ImTarget } from 'svc/contracts/imbridge';

import { filled, type Words } from '../messages/words.ts';

/** Kinds of forms, by what they do. */
export type FormKind = 'silence' | 'note';

const durations = ['2h', '30m', '8h', '1d', '3d', '7d'];

/** Returns the form in which a person silences an incident, or writes a note about it. */
export function formFor(
  kind: FormKind,
  {
    incident,
    token,
    reply,
    words,
  }: {
    readonly incident: number;
    readonly token: string;
    readonly reply: ImTarget;
    readonly words: Words;
  },
): ImForm {
  const base = { token, reply };
  return kind === 'silence'
    ? {
        ...base,
        title: filled(words.silenceTitle, { id: incident }),
        submit: words.silenceSubmit,
        fields: [
          {
            name: 'duration',
            label: words.silenceFor,
            choices: durations.map((value) => ({ label: value, value })),
          },
          { name: 'reason', label: words.silenceReason, lines: 'one', optional: true },
        ],
      }
    : {
        ...base,
        title: filled(words.noteTitle, { id: incident }),
        submit: words.noteSubmit,
        fields: [{ name: 'note', label: words.noteText, lines: 'many' }],
      };
}
