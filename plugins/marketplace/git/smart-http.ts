import { type PluginContext, SvcError } from 'svc/sdk';

import { limits, shown } from '../archive/entry-list.ts';
import { isSecure } from '../registry/address.ts';
import { errors } from './errors.ts';

const headers = { 'git-protocol': 'version=2', accept: 'application/x-git-upload-pack-result' };
const timeoutMs = 120_000;

const failed = (message: string): SvcError =>
  new SvcError('upstream_error', message, { reason: 'marketplace.git_failed' });

const line = (text: string): string =>
  `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

/** Reads repositories over HTTPS by the second version of git's protocol: no program is run, and every address is checked as any other. */
export class SmartHttp {
  readonly #fetch: PluginContext['fetch'];

  constructor(fetch: PluginContext['fetch']) {
    this.#fetch = fetch;
  }

  /** Returns the commit of a branch or tag; without one, of HEAD. */
  async resolve(url: string, ref: string | undefined, signal: AbortSignal): Promise<string> {
    const wanted = ref === undefined ? ['HEAD'] : [`refs/tags/${ref}`, `refs/heads/${ref}`, ref];
    const ask = [
      line('command=ls-refs\n'),
      '0001',
      line('peel\n'),
      ...wanted.map((name) => line(`ref-prefix ${name}\n`)),
      '0000',
    ];
    const packets = packetsOf(await this.#post(url, ask.join(''), 4 * 1024 * 1024, signal));
    const refs = packets
      .map((packet) =>
        /^([0-9a-f]{40}) (\S+)(?: .*?peeled:([0-9a-f]{40}))?/.exec(packet.toString('utf8')),
      )
      .filter((found) => found !== null);
    const found = wanted
      .map((name) => refs.find(([, , known]) => known === name))
      .find((one) => one !== undefined);
    if (found === undefined) {
      throw errors.no_ref({ ref: ref ?? 'HEAD' });
    }
    return found[3] ?? found[1]!;
  }

  /** A packfile with one commit and all that is in it, and nothing of its past. */
  async fetchCommit(url: string, commit: string, signal: AbortSignal): Promise<Buffer> {
    const ask = [
      line('command=fetch\n'),
      '0001',
      line('no-progress\n'),
      line(`want ${commit}\n`),
      line('deepen 1\n'),
      line('done\n'),
      '0000',
    ];
    const packets = packetsOf(
      await this.#post(url, ask.join(''), limits.packedBytes + 1024 * 1024, signal),
    );
    const from = packets.findIndex((packet) => packet.toString('latin1', 0, 8) === 'packfile');
    if (from === -1) {
      const said = packets
        .find((packet) => packet.toString('latin1', 0, 3) === 'ERR')
        ?.toString('utf8')
        .trim();
      throw failed(
        `the repository did not send ${commit.slice(0, 12)}${said === undefined ? '' : `: ${shown(said.slice(4, 200))}`}`,
      );
    }
    const bands = packets.slice(from + 1).filter(({ length }) => length > 0);
    const complaint = bands.find(([band]) => band === 3);
    if (complaint !== undefined) {
      throw failed(`the repository says: ${shown(complaint.toString('utf8', 1, 200).trim())}`);
    }
    return Buffer.concat(bands.filter(([band]) => band === 1).map((packet) => packet.subarray(1)));
  }

  async #post(url: string, body: string, maxBytes: number, signal: AbortSignal): Promise<Buffer> {
    const address = `${url.replace(/\/+$/, '')}/git-upload-pack`;
    const reply = await this.#fetch(address, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/x-git-upload-pack-request' },
      body,
      maxBytes,
      timeoutMs,
      signal,
      redirects: 3,
    });
    if (!isSecure(reply.url)) {
      throw failed(
        'the repository redirects to an address without TLS, which can be tampered with; use its https:// address',
      );
    }
    if (
      reply.status !== 200 ||
      reply.headers['content-type'] !== 'application/x-git-upload-pack-result'
    ) {
      throw failed(
        `${new URL(url).host} answered ${reply.status} instead of git; check the address of the repository`,
      );
    }
    return Buffer.from(reply.body);
  }
}

/** The packets of an answer; marks between its parts are left out. */
function packetsOf(answer: Buffer): readonly Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 0; at + 4 <= answer.length;) {
    const length = Number.parseInt(answer.toString('latin1', at, at + 4), 16);
    if (!(length >= 0) || (length >= 4 && at + length > answer.length) || length === 3) {
      throw failed('the repository does not speak the second version of git’s protocol');
    }
    if (length >= 4) {
      packets.push(answer.subarray(at + 4, at + length));
    }
    at += Math.max(4, length);
  }
  return packets;
}
