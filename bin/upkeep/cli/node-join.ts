import { existsSync } from 'node:fs';
import { connect } from 'node:http2';

import type { Command } from 'svc/cli';

import { systemClock, systemIds } from '../../../core/boot/time.ts';
import { messageOf } from '../../../core/sdk/index.ts';
import { keyFile } from '../../../core/storage/index.ts';
import { openDataFolder } from '../data-folder.ts';
import { errors } from '../../serve/nodes/errors.ts';
import { identityOf } from '../../serve/nodes/identity.ts';
import { type Invitation, invitationIn, joinKey } from '../../serve/nodes/join-tokens.ts';
import { readJson } from '../../serve/nodes/owner-line.ts';
import { keepKeys } from '../../serve/nodes/secret-keys.ts';
import { wireTls } from '../../serve/nodes/wire-keys.ts';

const answerMs = 10_000;

export const command: Command = {
  operands: ['<token>'],
  options: {},
  about:
    'Run it once on a new machine, with the token that "svc node token" printed on another node. It writes the secret key of the installation and the name of this node to the data folder.',
  example: 'svc node join svc_node_WyIxMC4wLjAuMTE6NzQ0MyIs…',

  async run(call) {
    const invitation = invitationIn(call.operand(0));
    const { dataDir } = await openDataFolder(call.environment);
    const file = keyFile(dataDir);
    if (existsSync(file)) {
      throw errors.joined({ file });
    }
    const { answer, keys = [] } = await redeem(invitation);
    if (answer === 'used') {
      throw errors.token_used();
    }
    if (answer !== 'good' || !keepKeys(dataDir, keys)) {
      throw errors.token_expired();
    }
    const id = identityOf(dataDir, systemIds(systemClock));
    return {
      data: { id, data_dir: dataDir },
      text: () =>
        `This machine is the node ${id}; its data folder is ${dataDir}.\nNext: start svc, with the database of the other nodes and with addresses of this machine:\nSVC_DATABASE_URL='postgres://…' SVC_NODE_ADDR=<this host>:7443 SVC_NODE_URL=http://<this host>:8080 SVC_HTTP_ADDR=0.0.0.0:8080 svc serve --data ${dataDir}`,
    };
  },
};

interface Answer {
  readonly answer?: unknown;
  readonly keys?: readonly unknown[];
}

/** Uses a token up at the node that issued it. */
async function redeem({ wire, id, secret }: Invitation): Promise<Answer> {
  const session = connect(`https://${wire}`, {
    ...wireTls,
    pskCallback: () => ({ identity: `join.${id}`, psk: joinKey(secret) }),
    checkServerIdentity: () => undefined,
  } as object);
  const late = setTimeout(() => session.destroy(new Error('no answer')), answerMs);
  try {
    return await new Promise<Answer>((resolve, reject) => {
      session.once('error', reject);
      session.once('connect', () => {
        const stream = session.request({ ':path': '/join' });
        stream.once('error', reject);
        readJson(stream).then((answer) => resolve(answer as Answer), reject);
      });
    });
  } catch (error) {
    const cause = messageOf(error);
    const code = String((error as { code?: unknown }).code);
    throw /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEDOUT)$/.test(code)
      ? errors.unreachable({ place: wire, cause }, { cause: error })
      : errors.token_refused({ place: wire, cause }, { cause: error });
  } finally {
    clearTimeout(late);
    session.destroy();
  }
}
