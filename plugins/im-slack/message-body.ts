import type { ImButton, ImMessage } from 'svc/contracts/imbridge';
import { cutToBytes, inParts } from 'svc/im';

const maxSection = 2_900;
const maxButtons = 10;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Converts the simple markdown of models to that of Slack. */
export const mrkdwn = (text: string): string =>
  escaped(text)
    .replaceAll(/\*\*([^*\n]+)\*\*/g, '*$1*')
    .replaceAll(/^#{1,6} +(.+)$/gm, '*$1*')
    .replaceAll(/\[([^\]\n]{1,200})\]\((https?:[^)\s]+)\)/g, '$1 ($2)');

/** Returns a block of text, as much of it as one takes. */
export const sectionOf = (text: string): object => ({
  type: 'section',
  text: {
    type: 'mrkdwn',
    text: inParts(mrkdwn(text), (part) => part.length <= maxSection, 1)[0],
    verbatim: true,
  },
});

export const buttonsOf = (buttons: readonly ImButton[]): readonly object[] =>
  buttons.slice(0, maxButtons).map(({ label, token, url, style }) => ({
    type: 'button',
    text: { type: 'plain_text', text: cutToBytes(label, 70) },
    ...(style !== undefined && { style }),
    ...(url === undefined
      ? { value: token, action_id: `act_${token}` }
      : { url, action_id: 'open' }),
  }));

/** Returns the body of a message: its text, and blocks where it has buttons. */
export function bodyOf({ text, buttons }: ImMessage): object {
  const shown = mrkdwn(text);
  const elements = buttonsOf(buttons);
  const blocks =
    elements.length === 0
      ? {}
      : {
          blocks: [
            ...inParts(shown, (part) => part.length <= maxSection, 3).map((part) => ({
              type: 'section',
              text: { type: 'mrkdwn', text: part, verbatim: true },
            })),
            { type: 'actions', elements },
          ],
        };
  return {
    text: shown,
    mrkdwn: true,
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
    parse: 'none',
    ...blocks,
  };
}
