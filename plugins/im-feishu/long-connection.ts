import type { ImApp, ImListening, ImPorts } from 'svc/contracts/imbridge';
import { type Calls, jsonObject, objectOf, textOf } from 'svc/im';

import { errors } from './errors.ts';
import { eventsOf } from './events.ts';
import { type Frame, packed, unpacked } from './frame.ts';

export interface LongConnectionParts {
  readonly calls: Calls;
  readonly app: ImApp;
  readonly endpoint: string;
  readonly ports: ImPorts;
  readonly listening: ImListening;
}

const control = 0;
const data = 1;
/** Ping interval; the server closes connections that are silent for two minutes. */
const pingEveryMs = 90_000;
const maxParts = 32;
const maxOpen = 64;

/** One long connection until it ends. An event is answered once it is on disk; without an answer it comes again. */
export async function longConnection({
  calls,
  app,
  endpoint,
  ports,
  listening,
}: LongConnectionParts): Promise<void> {
  const { signal, take, connected, every } = listening;
  const answer = await calls.call({
    url: `${endpoint}/callback/ws/endpoint`,
    json: { AppID: app.app_id, AppSecret: app.app_secret },
    judge: (body, status) =>
      status === 200 && body['code'] === 0
        ? undefined
        : { code: textOf(body['code']) || String(status), words: textOf(body['msg']) },
    signal,
  });
  const url = answer.result === 'ok' ? textOf(objectOf(answer.body['data'])['URL'], 2_000) : '';
  if (answer.result !== 'ok' || !URL.canParse(url)) {
    throw errors.no_connection({
      detail: answer.result === 'ok' ? 'it returned no address' : answer.reason,
    });
  }
  const service = Number(new URL(url).searchParams.get('service_id') ?? '0');
  const socket = await ports.dial(url, signal);
  connected();
  const parts = new Map<string, (Uint8Array | undefined)[]>();
  const stopPings = every(pingEveryMs, () => socket.send(packed(pingOf(service))));
  socket.send(packed(pingOf(service)));
  try {
    for (let bytes = await socket.next(); bytes !== undefined; bytes = await socket.next()) {
      const frame = typeof bytes === 'string' ? undefined : unpacked(bytes);
      if (frame?.method === control && frame.headers['type'] === 'pong') {
        continue;
      }
      const payload = frame?.method === data ? joined(parts, frame) : undefined;
      if (frame !== undefined && payload !== undefined) {
        await take(eventsOf(app.app_id, jsonObject(payload)) ?? []);
        socket.send(
          packed({
            ...frame,
            headers: { ...frame.headers, biz_rt: '0' },
            payload: Buffer.from('{"code":200}'),
          }),
        );
      }
    }
  } finally {
    void stopPings();
    socket.close();
  }
}

const pingOf = (service: number): Frame => ({
  seq: 0n,
  log: 0n,
  service,
  method: control,
  headers: { type: 'ping' },
  payload: new Uint8Array(),
});

/** The whole payload, once all of its frames are there. */
function joined(
  parts: Map<string, (Uint8Array | undefined)[]>,
  { headers, payload }: Frame,
): Uint8Array | undefined {
  const [sum, seq] = [Number(headers['sum'] ?? '1'), Number(headers['seq'] ?? '0')];
  if (!(sum > 1)) {
    return payload;
  }
  if (sum > maxParts || !(seq >= 0 && seq < sum)) {
    return undefined;
  }
  const id = headers['message_id'] ?? '';
  const known = parts.get(id) ?? Array.from({ length: sum }, () => undefined);
  known[seq] = payload;
  parts.set(id, known);
  if (parts.size > maxOpen) {
    parts.delete(parts.keys().next().value!);
  }
  if (known.length !== sum || known.some((part) => part === undefined)) {
    return undefined;
  }
  parts.delete(id);
  return Buffer.concat(known as Uint8Array[]);
}
