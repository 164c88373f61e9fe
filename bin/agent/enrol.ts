import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { arch, hostname, release, type } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';

import { belowManager, keysSum, openMachineIdentity, spkiPin, through } from 'svc/tunnel';
import { messageOf } from '../../core/sdk/index.ts';
import { writeDurably } from '../../core/storage/index.ts';
import { Failure, unreachable } from 'svc/cli';
import { version } from '../product/product.ts';

export interface Enrolment {
  /** `https://manager.example`, with the path below which it lives, if any. */
  readonly manager: string;
  readonly token: string;
  readonly name?: string | undefined;
  /** `sha256/…`, or `sha256//…` as other tools write it. */
  readonly pin?: string | undefined;
  /** PEM of the authority that signed the manager's certificate. */
  readonly ca?: string | undefined;
  /** Through which it is reached. */
  readonly proxy?: string | undefined;
}

export interface Enrolled {
  readonly edge_id: number;
  readonly name: string;
}

const answerMs = 30_000;
const mostAnswerBytes = 64 * 1024;

/** Asks the manager to take this machine in, and keeps the keys that it gives. */
export async function enrol(
  dataDir: string,
  { manager, token, name, pin, ca, proxy }: Enrolment,
): Promise<Enrolled> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const checkedPin = pin === undefined ? undefined : pinOf(pin);
  // The same machine stays the same when it is enrolled again.
  const machine = openMachineIdentity(dataDir, randomUUID);
  const asked = {
    token,
    machine_uuid: machine.uuid,
    machine_key: machine.key.publicKey,
    hostname: name ?? hostname(),
    agent_version: version,
    arch: arch(),
    os: `${type()} ${release()}`.slice(0, 120),
  };
  const { status, body } = await post(
    belowManager(manager, '/internal/edge/enrol'),
    JSON.stringify(asked),
    checkedPin,
    { ca, proxy },
  );
  if (status !== 200 && status !== 201) {
    throw refusal(manager, status, body);
  }
  const answer = JSON.parse(body) as Enrolled & {
    access_key: string;
    secret_key: string;
    tunnel_path: string;
  };
  const { edge_id, access_key, secret_key, tunnel_path } = answer;
  const kept = {
    manager,
    tunnel_path,
    edge_id,
    name: answer.name,
    access_key,
    secret_key,
    keys_sum: keysSum({ tunnel_path, edge_id, access_key, secret_key }),
    ...(checkedPin && { pin: checkedPin }),
    ...(ca && { ca }),
    ...(proxy && { proxy }),
  };
  writeDurably(join(dataDir, 'edge.json'), `${JSON.stringify(kept, undefined, 2)}\n`, 0o600);
  return { edge_id, name: answer.name };
}

function pinOf(text: string): string {
  const digest = /^sha256\/\/?([A-Za-z0-9+/]{43}=)$/.exec(text)?.[1];
  if (digest === undefined) {
    throw new Failure(
      2,
      'invalid_argument',
      '--pin must be sha256/ followed by 44 characters of base64, as the manager shows it next to the enrolment token',
    );
  }
  return `sha256/${digest}`;
}

function refusal(manager: string, status: number, body: string): Failure {
  let told: { message?: unknown } = {};
  try {
    told = JSON.parse(body) as { message?: unknown };
  } catch {
    // Not the manager, or something before it.
  }
  const said = typeof told.message === 'string' ? `: ${told.message}` : '';
  if (status === 401 || status === 403) {
    return new Failure(
      4,
      'unauthorized',
      `the manager rejected this token${said}; create another one under Edges → Enrolments, or with POST /api/v1/edges/enrolments`,
    );
  }
  if (status === 404) {
    return new Failure(
      3,
      'not_found',
      `${manager} answers, but it is not an svc manager: check --manager`,
    );
  }
  return new Failure(
    3,
    'unavailable',
    `the manager answered HTTP ${status}${said}; try again later`,
  );
}

function post(
  url: URL,
  body: string,
  pin: string | undefined,
  { ca, proxy }: Pick<Enrolment, 'ca' | 'proxy'>,
): Promise<{ status: number; body: string }> {
  const secure = url.protocol === 'https:';
  const options = {
    method: 'POST',
    // Never with a session of an earlier connection: a resumed one shows no certificate, and so no key to hold against the pin.
    ...(proxy === undefined
      ? { agent: false as const }
      : { createConnection: through(proxy, secure) as never }),
    timeout: answerMs,
    signal: AbortSignal.timeout(answerMs),
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ...(secure && pin !== undefined && { rejectUnauthorized: false }),
    ...(secure && ca !== undefined && { ca }),
  };
  return new Promise((resolve, reject) => {
    const request = (secure ? httpsRequest : httpRequest)(
      url,
      options,
      (response) => void read(response).then(resolve, reject),
    );
    request.once('error', (error) =>
      reject(error instanceof Failure ? error : explained(url, error)),
    );
    request.once('socket', (socket) => {
      if (!(socket instanceof TLSSocket) || pin === undefined) {
        request.end(body);
        return;
      }
      // The token is not for anybody but the manager.
      socket.once('secureConnect', () => {
        const shown = socket.getPeerX509Certificate();
        if (!shown || spkiPin(shown.raw) !== pin) {
          request.destroy(
            new Failure(
              4,
              'forbidden',
              `the key of ${url.host} does not match --pin: the pin belongs to another manager, or the connection is intercepted`,
            ),
          );
          return;
        }
        request.end(body);
      });
    });
  });
}

async function read(response: IncomingMessage): Promise<{ status: number; body: string }> {
  let body = '';
  for await (const chunk of response) {
    body += (chunk as Buffer).toString('utf8');
    if (body.length > mostAnswerBytes) {
      throw unreachable('the response is too large for an svc manager: check --manager');
    }
  }
  return { status: response.statusCode ?? 0, body };
}

function explained(url: URL, error: Error): Failure {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return unreachable(
      `the certificate of ${url.host} is not signed by an authority that this machine trusts (${code}): pass --pin, or --ca with the authority's file`,
      error,
    );
  }
  const fix =
    code === 'ENOTFOUND'
      ? 'check the host name in --manager'
      : code === 'ECONNREFUSED'
        ? 'connection refused; check the port in --manager'
        : 'check the network between this machine and the manager';
  return unreachable(`${url.origin} cannot be reached (${messageOf(error)}): ${fix}`, error);
}
