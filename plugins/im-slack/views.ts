import type { ImApp, ImField, ImForm, ImPage, ImSent, ImTarget } from 'svc/contracts/imbridge';
import { cutToBytes, jsonObject, notSent, objectOf, textOf } from 'svc/im';

import type { Api } from './api.ts';
import { buttonsOf, sectionOf } from './message-body.ts';

type Json = Readonly<Record<string, unknown>>;

const maxTitle = 24;
const maxLabel = 75;
const maxBlocks = 100;

const plain = (text: string, most: number): object => ({
  type: 'plain_text',
  text: cutToBytes(text, most),
});

/** Opens a form, within three seconds of the press that asks for it. */
export async function openForm(
  api: Api,
  app: ImApp,
  { trigger }: ImTarget,
  { title, submit, token, fields, reply }: ImForm,
): Promise<ImSent> {
  const opened = await api(app, 'views.open', {
    trigger_id: trigger,
    view: {
      type: 'modal',
      callback_id: 'form',
      private_metadata: JSON.stringify({ token, reply }),
      title: plain(title, maxTitle),
      submit: plain(submit, maxTitle),
      blocks: fields.map(inputOf),
    },
  });
  return opened.result === 'ok'
    ? { result: 'sent', at: reply, id: token, thread: reply }
    : notSent(opened);
}

function inputOf({ name, label, choices, lines, optional = false }: ImField): object {
  const options = choices?.map((choice) => ({
    text: plain(choice.label, maxLabel),
    value: choice.value,
  }));
  return {
    type: 'input',
    block_id: name,
    optional,
    label: plain(label, maxLabel),
    element:
      options === undefined
        ? {
            type: 'plain_text_input',
            action_id: name,
            multiline: lines === 'many',
            max_length: 2_000,
          }
        : { type: 'static_select', action_id: name, options, initial_option: options[0] },
  };
}

/** Returns what a form was filled in with, and what it was opened with. */
export function submittedOf(view: Json): {
  readonly token: string;
  readonly reply: Readonly<Record<string, string>>;
  readonly fields: Readonly<Record<string, string>>;
} {
  const own = jsonObject(textOf(view['private_metadata'], 3_000));
  const texts = (of: unknown, read: (value: unknown) => string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(objectOf(of)).flatMap(([name, value]) => {
        const text = read(value);
        return text === '' ? [] : [[name, text]];
      }),
    );
  const fields = texts(objectOf(view['state'])['values'], (block) => {
    const [element] = Object.values(objectOf(block)).map(objectOf);
    return (
      textOf(element?.['value'], 2_000) || textOf(objectOf(element?.['selected_option'])['value'])
    );
  });
  return {
    token: textOf(own['token']),
    reply: texts(own['reply'], (value) => textOf(value)),
    fields,
  };
}

/** Shows a person the page of the app. */
export async function showPage(
  api: Api,
  app: ImApp,
  sender: string,
  { title, sections }: ImPage,
): Promise<ImSent> {
  const blocks = sections.flatMap(({ text, buttons }) => [
    sectionOf(text),
    ...(buttons.length === 0 ? [] : [{ type: 'actions', elements: buttonsOf(buttons) }]),
  ]);
  const shown = await api(app, 'views.publish', {
    user_id: sender,
    view: {
      type: 'home',
      blocks: [{ type: 'header', text: plain(title, 150) }, ...blocks].slice(0, maxBlocks),
    },
  });
  return shown.result === 'ok'
    ? { result: 'sent', at: { user: sender }, id: sender, thread: { channel: sender } }
    : notSent(shown);
}
