import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { DeviceDirectory } from 'svc/contracts/device';
import { EdgeFleet } from 'svc/contracts/edge';
import { startTestEdge } from 'svc/testing';

import { rooms, shellHouse, until } from './house.ts';
import { startSshd } from './sshd.ts';
import { Refused, type Terminal } from './terminal.ts';

test('a shell through a real edge, whose owner has the last word', async (t: TestContext) => {
  const sshd = await startSshd(t);
  if (!sshd) {
    return;
  }
  const { house, ask, open } = await shellHouse(t, () => 0, {
    plugins: [...rooms, 'edge'],
    services: {},
  });
  const { body: made } = await ask('POST', '/edges', undefined, { name: 'far' });
  const edgeId = made.id as number;
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-shell-edge-'));
  const policy = (text: string): void => writeFileSync(join(dataDir, 'policy.yaml'), text);
  const { access_key, secret_key } = made as { access_key: string; secret_key: string };
  writeFileSync(
    join(dataDir, 'edge.json'),
    JSON.stringify({
      manager: house.url,
      tunnel_path: '/internal/tunnel',
      edge_id: edgeId,
      name: 'far',
      access_key,
      secret_key,
    }),
  );
  policy('tcp: ["127.0.0.1:22"]\n');
  const agent = await startTestEdge(t, { plugins: ['edge-uplink'], dataDir });
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));

  const fleet = house.service(EdgeFleet);
  const device = await found('the edge has told which machine it watches', () =>
    house.service(DeviceDirectory).deviceOf(edgeId),
  );
  const enter = (acks = false): Promise<Terminal> =>
    open(device, {
      bearer: house.token,
      acks,
      first: { user: sshd.user, auth: { type: 'key', private_key: sshd.privateKey } },
    });
  const refusal = async (): Promise<{ code: number; message: string }> => {
    const shell = await enter();
    return {
      message: (await shell.frame('error')).message as string,
      code: (await shell.closed).code,
    };
  };

  await t.test(
    'the tag of a device says where its SSH server listens, and only its owner’s file that it may be reached there',
    async () => {
      const tagged = async (port: string): Promise<void> =>
        assert.equal(
          (await ask('PATCH', `/devices/${device}`, undefined, { tags: { ssh_port: port } }))
            .status,
          200,
        );
      await tagged('22x');
      const none = await refusal();
      assert.deepEqual([none.code, /ssh_port/.test(none.message)], [4400, true]);
      await tagged(String(sshd.port));
      const forbidden = await refusal();
      assert.equal(forbidden.code, 4403);
      assert.ok(
        forbidden.message.includes(`does not allow 127.0.0.1:${sshd.port}`),
        forbidden.message,
      );
      policy(`tcp: ["127.0.0.1:${sshd.port}"]\n`);
      for (const [host, port] of [
        ['10.0.0.1', 22],
        ['127.0.0.1', 22],
        ['localhost', sshd.port],
      ] as const) {
        await assert.rejects(
          fleet.openStream(edgeId, 'tcp', { host, port }),
          { code: 'forbidden' },
          `${host}:${port}`,
        );
      }
    },
  );

  await t.test('bytes come through it unchanged', async () => {
    const bytes = randomBytes(2 * 1024 * 1024);
    const source = join(house.dataDir, 'source.bin');
    writeFileSync(source, bytes);
    const shell = await enter(true);
    await shell.frame('ready');
    shell.type(
      `stty raw -echo; printf 'BEGIN-H''ERE'; cat ${source}; printf 'THE-E''ND-OF-IT'; exit 7\n`,
    );
    assert.equal((await shell.frame('exit')).exit_code, 7);
    assert.equal((await shell.closed).code, 1000);
    const from = shell.bytes().indexOf('BEGIN-HERE') + 10;
    assert.ok(
      shell
        .bytes()
        .subarray(from, shell.bytes().indexOf('THE-END-OF-IT', from + bytes.length))
        .equals(bytes),
    );
  });

  await t.test(
    'a shell that prints without end keeps no other from answering, and ends with the tunnel',
    async () => {
      const [noisy, calm] = [await enter(), await enter()];
      await noisy.frame('ready');
      noisy.type('yes\n');
      await noisy.shows('y\r\ny\r\n');
      await calm.frame('ready');
      calm.type('echo st""ill\n');
      await calm.shows('still');
      await agent.reload('edge-uplink');
      assert.equal((await noisy.closed).code, 4502);
      assert.equal((await calm.closed).code, 4502);
    },
  );

  await t.test(
    'an owner who wants no shells says so, at once and before the next one',
    async () => {
      await until('the edge is back', () => fleet.capabilities(edgeId)?.webshell === true);
      policy(`tcp: ["127.0.0.1:${sshd.port}"]\nwebshell: false\n`);
      const told = await refusal();
      assert.deepEqual([told.code, /does not allow shells/.test(told.message)], [4403, true]);
      await agent.reload('edge-uplink');
      await until('the edge has told it', () => fleet.capabilities(edgeId)?.webshell === false);
      await assert.rejects(
        enter(),
        (error) =>
          error instanceof Refused &&
          error.status === 403 &&
          /does not allow shells/.test(error.body.message ?? ''),
      );
    },
  );
});

async function found<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  let seen: T | undefined;
  await until(what, async () => (seen = await look()) !== undefined);
  return seen!;
}
