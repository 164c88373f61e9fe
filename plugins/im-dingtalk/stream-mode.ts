import type { ImApp, ImEvent, ImListening, ImPorts } from 'svc/contracts/imbridge';
import { type Calls, jsonObject, objectOf, textOf } from 'svc/im';

import { errors } from './errors.ts';

export interface StreamModeParts {
  readonly calls: Calls;
  readonly app: ImApp;
  readonly endpoint: string;
  readonly ports: ImPorts;
  readonly listening: ImListening;
  readonly eventsOf: (payload: Readonly<Record<string, unknown>>) => readonly ImEvent[];
}

const topic = '/v1.0/im/bot/messages/get';

/** One stream of the gateway until it ends. A message is answered once it is on disk; the gateway repeats those that are not. */
export async function streamMode({
  calls,
  app,
  endpoint,
  ports,
  listening,
  eventsOf,
}: StreamModeParts): Promise<void> {
  const { signal, take, connected } = listening;
  const answer = await calls.call({
    url: `${endpoint}/v1.0/gateway/connections/open`,
    json: {
      clientId: app.app_id,
      clientSecret: app.app_secret,
      subscriptions: [{ type: 'CALLBACK', topic }],
      ua: 'svc',
    },
    judge: (body, status) =>
      status === 200 && typeof body['endpoint'] === 'string'
        ? undefined
        : { code: textOf(body['code']) || String(status), words: textOf(body['message']) },
    signal,
  });
  if (answer.result !== 'ok') {
    throw errors.no_stream({ reason: answer.reason });
  }
  const url = `${textOf(answer.body['endpoint'], 1_000)}?ticket=${encodeURIComponent(textOf(answer.body['ticket'], 1_000))}`;
  const socket = await ports.dial(url, signal);
  connected();
  try {
    for (let data = await socket.next(); data !== undefined; data = await socket.next()) {
      const message = jsonObject(data);
      const headers = objectOf(message['headers']);
      const [type, about] = [textOf(message['type']), textOf(headers['topic'])];
      if (type === 'SYSTEM' && about === 'disconnect') {
        return;
      }
      const isMessage = type === 'CALLBACK' && about === topic;
      const payload = isMessage ? jsonObject(textOf(message['data'], 1_000_000)) : {};
      if (isMessage && textOf(payload['robotCode']) === app.app_id) {
        await take(eventsOf(payload));
      }
      const reply = isMessage ? JSON.stringify({ response: {} }) : textOf(message['data'], 100_000);
      socket.send(
        JSON.stringify({
          code: 200,
          message: 'OK',
          headers: { messageId: textOf(headers['messageId']), contentType: 'application/json' },
          data: reply,
        }),
      );
    }
  } finally {
    socket.close();
  }
}
