import type { ImApp, ImEvent, ImListening, ImPorts } from 'svc/contracts/imbridge';
import { type Calls, jsonObject, objectOf, textOf } from 'svc/im';

import { errors } from './errors.ts';

export interface SocketModeParts {
  readonly calls: Calls;
  readonly app: ImApp;
  readonly endpoint: string;
  readonly ports: ImPorts;
  readonly listening: ImListening;
  readonly eventsOf: (
    payload: Readonly<Record<string, unknown>>,
    kind: string,
  ) => readonly ImEvent[];
}

/**
 * Runs one Slack socket until it ends. Nothing is replayed on it, so an envelope is acknowledged
 * only once its events are on disk.
 */
export async function socketMode({
  calls,
  app,
  endpoint,
  ports,
  listening,
  eventsOf,
}: SocketModeParts): Promise<void> {
  const { signal, take, connected } = listening;
  const opened = await calls.call({
    url: `${endpoint}/apps.connections.open`,
    headers: {
      authorization: `Bearer ${app.verify_token}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    judge: (body, status) =>
      status === 200 && body['ok'] === true && typeof body['url'] === 'string'
        ? undefined
        : { code: textOf(body['error']) || String(status), words: '' },
    signal,
  });
  if (opened.result !== 'ok') {
    throw errors.no_socket({ reason: opened.reason });
  }
  const socket = await ports.dial(String(opened.body['url']), signal);
  try {
    for (let data = await socket.next(); data !== undefined; data = await socket.next()) {
      const envelope = jsonObject(data);
      const [type, id] = [textOf(envelope['type']), textOf(envelope['envelope_id'])];
      if (type === 'hello') {
        connected();
      } else if (type === 'disconnect') {
        return;
      } else if (id !== '') {
        await take(eventsOf(objectOf(envelope['payload']), type));
        socket.send(JSON.stringify({ envelope_id: id }));
      }
    }
  } finally {
    socket.close();
  }
}
