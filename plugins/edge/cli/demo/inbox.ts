import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { messageOf } from 'svc/sdk';

/** Notice in a webhook's body, as far as it is printed. */
interface Notice {
  readonly event: string;
  readonly title?: string;
  readonly link?: string;
  readonly text?: string;
  readonly facts?: readonly { readonly name: string; readonly text: string }[];
}

const mostBytes = 512 * 1024;

/** Receiver of the notices of a demo, in place of somebody's phone. */
export class Inbox {
  readonly #server: Server;

  private constructor(tell: (notice: Notice) => void) {
    this.#server = createServer((request, response) => {
      noticeIn(request).then(
        (notice) => {
          tell(notice);
          response.writeHead(204).end();
        },
        (error: unknown) => response.writeHead(400).end(messageOf(error)),
      );
    });
  }

  static async open(tell: (notice: Notice) => void): Promise<Inbox> {
    const inbox = new Inbox(tell);
    inbox.#server.listen(0, '127.0.0.1');
    await once(inbox.#server, 'listening');
    return inbox;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}

async function noticeIn(request: IncomingMessage): Promise<Notice> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) {
    text += piece as string;
    if (text.length > mostBytes) {
      throw new Error('the notification is too long');
    }
  }
  return JSON.parse(text) as Notice;
}
