import { type ImPlatform, ImPlatforms } from 'svc/contracts/imbridge';
import { sameSecret } from 'svc/im';
import { definePlugin } from 'svc/sdk';

/** The least that a platform can be: a token in a header, plain text, no edits, no streams. */
const moss: ImPlatform = {
  title: 'Moss',
  needs: { callback: ['verify_token'] },
  allow_list: false,
  max_size: 1_000,
  pace: { count: 100, per_ms: 1_000 },
  repeats: 'known',
  check: () => undefined,
  receive({ verify_token: own }, { headers, body }) {
    if (!sameSecret(String(headers['x-moss-token'] ?? ''), own)) {
      return { outcome: 'refused' };
    }
    const { id, from, text } = JSON.parse(Buffer.from(body).toString()) as {
      id: string;
      from: string;
      text: string;
    };
    const where = {
      conversation: from,
      thread: from,
      direct: true,
      replies_to: [],
      reply: { to: from },
    };
    return {
      outcome: 'events',
      events: [
        {
          key: id,
          kind: 'message',
          sender: from,
          sender_name: from,
          text,
          has_media: false,
          ...where,
        },
      ],
      body: '{"taken":true}',
    };
  },
  async send({ endpoint }, target, { text, key }, { fetch }) {
    const { status } = await fetch(`${endpoint}/say`, {
      method: 'POST',
      body: JSON.stringify({ ...target, text, key }),
      headers: { 'content-type': 'application/json' },
    });
    return status === 200
      ? { result: 'sent', at: target, id: key, thread: target }
      : { result: 'retry', reason: `it answered ${status}`, unclear: false };
  },
  personTarget: (sender) => ({ to: sender }),
  conversationTarget: (conversation) => ({ to: conversation }),
};

export default definePlugin({
  activate(ctx) {
    ctx.extend.contribute(ImPlatforms, 'moss', moss);
  },
});
