import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import { plain } from '../model/plain-text.ts';
import { type Conversation, conversing, type Means } from '../wire/conversation.ts';

const maxLines = 100;

interface Reply {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Greets a mail server, begins TLS if it offers that, logs in if asked to, and sends nothing. */
export async function probeSmtp(means: Means): Promise<Partial<Facts>> {
  const { order, watch } = means;
  return await conversing(means, endpointOf('smtp', order.target)!, async (server) => {
    const greeting = await replyOf(server);
    watch.end('greeting');
    const facts = (reply: Reply): Partial<Facts> => ({
      ...server.facts,
      banner: plain(greeting.lines[0] ?? ''),
      status: reply.code,
      body: reply.lines.map(plain).join('\n'),
    });
    if (greeting.code !== 220) {
      return facts(greeting);
    }
    let hello = await ask(server, 'EHLO svc-check');
    watch.end('request');
    if (hello.code === 250 && wantsTls(server, hello, order.tls)) {
      const ready = await ask(server, 'STARTTLS');
      if (ready.code !== 220) {
        throw new Error(`the server refuses STARTTLS: ${plain(ready.lines.join(' '))}`);
      }
      await server.secure();
      // What was offered before may have been said by anybody.
      hello = await ask(server, 'EHLO svc-check');
      watch.end('request');
    }
    const { username, password = '' } = order;
    if (username !== undefined && hello.code === 250) {
      if (!server.isSecure) {
        throw new Error('the server offers no TLS, without which no password is sent');
      }
      const login = await ask(
        server,
        `AUTH PLAIN ${Buffer.from(`\0${username}\0${password}`).toString('base64')}`,
      );
      watch.end('login');
      if (login.code !== 235) {
        return facts(login);
      }
    }
    server.say('QUIT\r\n');
    return facts(hello);
  });
}

function wantsTls(server: Conversation, { lines }: Reply, tls: 'off' | 'required' | undefined) {
  if (server.isSecure || tls === 'off') {
    return false;
  }
  const isOffered = lines.some((line) => line.trim().toUpperCase() === 'STARTTLS');
  if (!isOffered && tls === 'required') {
    throw new Error('the server does not offer STARTTLS');
  }
  return isOffered;
}

async function ask(server: Conversation, command: string): Promise<Reply> {
  server.say(`${command}\r\n`);
  return await replyOf(server);
}

/** A reply goes on while a hyphen follows its code. */
async function replyOf(server: Conversation): Promise<Reply> {
  const lines: string[] = [];
  for (;;) {
    const [, code, mark, text] = /^(\d{3})([ -]?)(.*)$/.exec(await server.line()) ?? [];
    if (code === undefined || lines.length >= maxLines) {
      throw new Error('the answer is not SMTP');
    }
    lines.push(text!);
    if (mark !== '-') {
      return { code: Number(code), lines };
    }
  }
}
