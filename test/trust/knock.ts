import { WebSocket } from 'ws';

import type { Answer } from './household.ts';

/** Asks for a WebSocket and leaves at once: the answer is the refusal, or 101. */
export function knock(
  url: string,
  authorization: string | undefined,
  protocols: readonly string[] = [],
): Promise<Answer> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols.slice(0, 1)], {
    headers: { ...(authorization !== undefined && { authorization }) },
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('open', () => {
      socket.terminate();
      resolve({ status: 101, body: undefined, text: '' });
    });
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => void (text += part));
      response.on('end', () => {
        socket.off('error', reject).on('error', () => undefined);
        socket.terminate();
        resolve({
          status: response.statusCode ?? 0,
          body: text.startsWith('{') ? JSON.parse(text) : undefined,
          text,
        });
      });
    });
  });
}
