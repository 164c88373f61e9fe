import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import { plain } from '../model/plain-text.ts';
import { type Conversation, conversing, type Means } from '../wire/conversation.ts';

/** Logs in if asked to, and sends PING. */
export async function probeRedis(means: Means): Promise<Partial<Facts>> {
  const { order, watch } = means;
  const { target, username, password } = order;
  return await conversing(means, endpointOf('redis', target)!, async (server) => {
    if (password !== undefined) {
      const login = await ask(server, [
        'AUTH',
        ...(username === undefined ? [] : [username]),
        password,
      ]);
      watch.end('login');
      if (login !== 'OK') {
        throw new Error(login);
      }
    }
    const body = await ask(server, ['PING']);
    watch.end('request');
    return { ...server.facts, body };
  });
}

/** Sends a command as an array of strings, so that no value can end it. */
async function ask(server: Conversation, words: readonly string[]): Promise<string> {
  server.say(
    `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
  );
  const line = await server.line();
  if (!/^[+-]/.test(line)) {
    throw new Error('the answer is not that of Redis');
  }
  return plain(line.slice(1));
}
