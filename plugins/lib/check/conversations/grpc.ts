import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';

import type { Facts } from '../model/check.ts';
import { endpointOf } from '../model/kinds.ts';
import type { Means } from '../wire/conversation.ts';
import { dial, secureTrusted } from '../wire/dial.ts';

const maxAnswer = 4_096;
const healthPath = '/grpc.health.v1.Health/Check';
/** Values of ServingStatus. */
const servingStatuses = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** Asks a gRPC server for its health, or for that of the service that the target names. */
export async function probeGrpc({ order, place, watch, signal }: Means): Promise<Partial<Facts>> {
  const { host, port, isSecure, path, authority } = endpointOf('grpc', order.target)!;
  const address = await place.reach(host, port, order.ip);
  watch.end('resolve');
  const socket = await dial(address, port, watch, signal);
  try {
    const secured = isSecure
      ? await secureTrusted(socket, host, order, watch, signal, ['h2'])
      : undefined;
    const session = connectHttp2(`${isSecure ? 'https' : 'http'}://${authority}`, {
      createConnection: () => secured?.socket ?? socket,
    });
    try {
      const answer = await healthOf(session, path);
      watch.end('request');
      return {
        address: address.address,
        ...(secured?.certificate !== undefined && { certificate: secured.certificate }),
        ...answer,
      };
    } finally {
      session.destroy();
    }
  } finally {
    socket.destroy();
  }
}

function healthOf(session: ClientHttp2Session, service: string): Promise<Partial<Facts>> {
  return new Promise((resolve, reject) => {
    session.once('error', reject);
    session.once('close', () => reject(new Error('the server closed the connection')));
    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: 'POST',
      [constants.HTTP2_HEADER_PATH]: healthPath,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/grpc',
      [constants.HTTP2_HEADER_TE]: 'trailers',
    });
    let [heard, code] = [Buffer.alloc(0), ''];
    const noteCode = (headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void => {
      const said = headers['grpc-status'];
      code = typeof said === 'string' ? said : code;
      const status = headers[':status'];
      if (status !== undefined && status !== 200) {
        reject(new Error(`the server answers HTTP ${Number(status)}, which is not gRPC`));
      }
    };
    call.on('response', noteCode);
    call.on('trailers', noteCode);
    call.on('data', (piece: Buffer) => {
      heard = Buffer.concat([heard, piece]).subarray(0, maxAnswer);
    });
    call.once('error', reject);
    call.once('end', () => {
      if (/^\d{1,2}$/.test(code)) {
        resolve({ status: Number(code), body: servingOf(heard) });
      } else {
        reject(new Error('the answer is not gRPC'));
      }
    });
    call.end(framed(service));
  });
}

/** A message in its frame: no compression, length, then field 1 with the name of the service. */
function framed(service: string): Buffer {
  const name = Buffer.from(service).subarray(0, 127);
  const message =
    name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Reads field 1 of a framed answer; absent, it is 0. */
function servingOf(heard: Buffer): string {
  const message = heard.subarray(5);
  return message.length === 0 ? '' : (servingStatuses[message[0] === 0x08 ? message[1]! : 0] ?? '');
}
