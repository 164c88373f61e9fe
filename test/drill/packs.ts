import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { Outcome, Row } from '../exercise.ts';
import { ask, confirmOf, startMarket } from '../plugins/marketplace/market.ts';

/**
 * Examines, installs and uninstalls every pack of the marketplaces below a folder; one row for
 * each.
 */
export async function run({
  dir = '.',
  least = 0,
}: { readonly dir?: string; readonly least?: number } = {}): Promise<Outcome> {
  const undo: (() => unknown)[] = [];
  const house = await startMarket(
    { after: (step) => void undo.push(step as () => unknown) },
    { environment: { SVC_LOG_LEVEL: 'error' } },
  );
  const rows: Row[] = [];
  const counts = { installed: 0, elsewhere: 0, refused: 0, left: 0, skills: 0, personas: 0 };
  try {
    await house.json('/api/v1/system-settings/marketplace/allow_blocked', {
      method: 'PUT',
      body: JSON.stringify({ value: true }),
    });
    for (const [index, folder] of marketplacesIn(resolve(dir)).entries()) {
      const registry = `r${index}`;
      await house.json('/api/v1/marketplace/registries', {
        method: 'POST',
        body: JSON.stringify({ name: registry, url: folder }),
      });
      for (const pack of await offersOf(house, registry)) {
        const wanted = { registry, pack_id: pack };
        const { status, body } = await ask(house, 'POST', '/preview', wanted);
        if (status !== 200) {
          // Other repositories are not fetched by a drill.
          counts[
            /^the address|lies next to|outbound|leads to|ENOTFOUND|EAI_AGAIN|cannot be reached|did not respond/.test(
              body.message,
            )
              ? 'elsewhere'
              : 'refused'
          ] += 1;
          rows.push({ pack, outcome: String(body.message).slice(0, 110) });
          continue;
        }
        const first = await ask(house, 'POST', '/install', wanted);
        const done =
          first.status === 409
            ? await ask(house, 'POST', '/install', {
                ...wanted,
                confirm: confirmOf(first.body),
                reason: 'a drill over public packs',
              })
            : first;
        if (done.status === 201) {
          counts.installed += 1;
          counts.skills += body.skills.length;
          counts.personas += body.agents.length;
          rows.push({ pack, outcome: done.body.state, ...listing(body) });
          const { status: gone } = await ask(house, 'DELETE', `/installed/${body.pack_id}`);
          counts.left +=
            gone === 204 && !existsSync(join(house.dataDir, 'packs', body.pack_id)) ? 0 : 1;
        } else {
          counts.refused += 1;
          rows.push({ pack, outcome: String(done.body.message).slice(0, 110), ...listing(body) });
        }
      }
    }
    return { ok: counts.installed >= least && counts.left === 0, ...counts, packs: rows };
  } finally {
    for (const step of undo) {
      await step();
    }
  }
}

const listing = ({
  verdict,
  findings,
  skills,
  agents,
  mcp_servers: servers,
  files,
  ignored,
  needs,
  // oxlint-disable-next-line typescript/no-explicit-any -- an answer of the house
}: any): Row => ({
  verdict,
  findings: findings.length,
  first: findings[0] === undefined ? '' : `${findings[0].rule} in ${findings[0].file}`.slice(0, 60),
  skills: skills.length,
  personas: agents.length,
  mcp: servers.length,
  files: files.length,
  ignored: ignored.length,
  asked: needs.length > 0,
});

/** The folder itself, and those in it. */
function marketplacesIn(dir: string): readonly string[] {
  const below = readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [join(dir, entry.name)] : [],
  );
  return [dir, ...below].filter(
    (folder) =>
      existsSync(join(folder, '.claude-plugin', 'marketplace.json')) ||
      existsSync(join(folder, 'index.json')),
  );
}

async function offersOf(
  house: Parameters<typeof ask>[0],
  registry: string,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (let cursor = ''; ;) {
    const { body } = await ask(
      house,
      'GET',
      `/search?registry=${registry}&limit=200${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    names.push(...body.items.map(({ pack_id: id }: { pack_id: string }) => id));
    if (!body.next_cursor) {
      return names;
    }
    cursor = body.next_cursor;
  }
}
