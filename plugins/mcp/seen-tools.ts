import { createHash } from 'node:crypto';

import type { SkillClass, Tables } from 'svc/sdk';

import type { RemoteTool } from './client.ts';

export interface McpTables {
  mcp_seen: { server: string; tool: string; class: SkillClass; digest: string };
}

export interface Judged {
  readonly class: SkillClass;
  /** True if its description or schema has changed since its class was assigned. */
  readonly changed: boolean;
  /** Digest of everything that it declares. */
  readonly digest: string;
}

type Classes = Readonly<Record<string, SkillClass>>;

/**
 * Record of tools seen. A class holds for a tool as it was when an administrator assigned it: one
 * whose description or schema has changed is dangerous until it is assigned again.
 */
export class SeenTools {
  readonly #tables: Tables<McpTables>;

  constructor(tables: Tables<McpTables>) {
    this.#tables = tables;
  }

  /** Judges tools by name. A new class applies to the tool as it is now. */
  async judge(
    server: string,
    tools: readonly RemoteTool[],
    classes: Classes,
  ): Promise<ReadonlyMap<string, Judged>> {
    return this.#tables.write(async (tx) => {
      const rows = await tx
        .selectFrom('mcp_seen')
        .selectAll()
        .where('server', '=', server)
        .execute();
      const known = new Map(rows.map((row) => [row.tool, row]));
      const lapsed = rows.filter(({ tool }) => classes[tool] === undefined).map(({ tool }) => tool);
      if (lapsed.length > 0) {
        await tx
          .deleteFrom('mcp_seen')
          .where('server', '=', server)
          .where('tool', 'in', lapsed)
          .execute();
      }
      const judged = new Map<string, Judged>();
      for (const tool of tools) {
        const given = Object.hasOwn(classes, tool.name) ? classes[tool.name] : undefined;
        const before = known.get(tool.name);
        const digest = digestOf(tool);
        const changed = given !== undefined && before?.class === given && before.digest !== digest;
        judged.set(tool.name, {
          class: given === undefined || changed ? 'dangerous' : given,
          changed,
          digest,
        });
        if (given !== undefined && before?.class !== given) {
          const row = { server, tool: tool.name, class: given, digest };
          await tx
            .insertInto('mcp_seen')
            .values(row)
            .onConflict((conflict) => conflict.columns(['server', 'tool']).doUpdateSet(row))
            .execute();
        }
      }
      return judged;
    });
  }

  /** Applies the classes of these tools to this digest, and to no later declaration. */
  async accept(
    server: string,
    tools: readonly { readonly tool: string; readonly digest: string }[],
  ): Promise<void> {
    await this.#tables.write(async (tx) => {
      for (const { tool, digest } of tools) {
        await tx
          .updateTable('mcp_seen')
          .set({ digest })
          .where('server', '=', server)
          .where('tool', '=', tool)
          .execute();
      }
    });
  }

  async forgetAllBut(servers: readonly string[]): Promise<void> {
    await this.#tables.write((tx) =>
      tx
        .deleteFrom('mcp_seen')
        .$if(servers.length > 0, (rows) => rows.where('server', 'not in', servers))
        .execute(),
    );
  }
}

/** One text for all orders in which a server may write the same. */
function digestOf({ title, description, schema }: RemoteTool): string {
  const text = JSON.stringify({ title, description, schema }, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  return createHash('sha256').update(text).digest('hex');
}
