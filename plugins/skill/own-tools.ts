import type { GateContract } from 'svc/contracts/gate';
import type { Guide, SkillRegistry, Tool, ToolCall } from 'svc/contracts/skill';
import { mayRead } from 'svc/sdk';
import { Type } from 'typebox';

import { FileDiff, fileDiff, type Look } from './diff/file-diff.ts';
import { errors } from './errors.ts';
import type { EvidenceStore } from './evidence-store.ts';
import { ranked } from './ranking.ts';
import { readIn } from './reading.ts';
import { guardedText } from './guard/result-guard.ts';

export interface OwnToolParts {
  readonly registry: () => SkillRegistry;
  readonly gate: GateContract;
  readonly evidence: EvidenceStore;
  readonly look: Look;
}

/** Schemas beyond this are named only, so that the answer is never kept as evidence itself. */
const maxSchemaBytes = 6_500;

const Search = Type.Object({
  query: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'What the tool should do, in words.',
    }),
  ),
  select: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: 10,
      description: 'Keys of the tools whose schemas to return.',
    }),
  ),
});
const EvidenceRead = Type.Object({
  id: Type.String({
    pattern: '^E[1-9][0-9]{0,14}$',
    description: 'Id from a result, such as E12.',
  }),
  filter: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 300,
      description: 'RE2 pattern that a line must match, ignoring case.',
    }),
  ),
  range: Type.Optional(
    Type.Object(
      {
        from: Type.Optional(Type.Integer({ minimum: 1 })),
        to: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      { additionalProperties: false, description: 'Range of line numbers.' },
    ),
  ),
});
const GuideRead = Type.Object({
  key: Type.String({ maxLength: 100, description: 'Key of a guide.' }),
});

const tool = (
  key: string,
  name: string,
  description: string,
  schema: object,
  trust: Tool['trust'],
  reads: readonly string[] = [],
): Tool => ({
  // Results are stored for the asker, and readable by them while they see the same devices.
  key,
  name,
  description,
  scope: 'manager',
  class: 'safe',
  tier: 'core',
  devices: 'narrowed',
  source: 'skill',
  trust,
  reads,
  schema: schema as Tool['schema'],
});

/** Tools about tools, which find nothing out that an answer could cite. */
export const aboutTools: ReadonlySet<string> = new Set([
  'tool_search',
  'evidence_read',
  'guide_read',
]);

/** Tools that see on whose behalf they run, which those of other plugins need not. */
export class OwnTools {
  readonly #parts: OwnToolParts;
  readonly list: readonly Tool[] = [
    tool(
      'tool_search',
      'Find a tool',
      'Finds tools by words, or gives the full schemas of those named. Only tools that may be used are found.',
      Search,
      'trusted',
    ),
    tool(
      'evidence_read',
      'Read on in a result',
      'Lines of a result that was too large to be given whole: by range, by pattern, or both.',
      EvidenceRead,
      'untrusted',
      ['skill'],
    ),
    tool(
      'guide_read',
      'Read a guide',
      'The full text of a guide: how a kind of task is done here, and with which tools.',
      GuideRead,
      'untrusted',
      ['skill'],
    ),
    tool(
      'file_diff',
      'Compare a file between hosts',
      'Unified diff of a text file on one host and on others, or of two files on one host: whether they are the same, and which lines differ. Hosts show the files that their policy allows to be read.',
      FileDiff,
      'untrusted',
      ['device'],
    ),
  ];

  constructor(parts: OwnToolParts) {
    this.#parts = parts;
  }

  async run(call: ToolCall, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    switch (call.key) {
      case 'tool_search':
        return await this.#search(call, params);
      case 'evidence_read': {
        const { id, filter, range } = params as {
          id: string;
          filter?: string;
          range?: { from?: number; to?: number };
        };
        const { evidence, text } = await this.#parts.evidence.read(id, call.principal);
        return {
          id,
          tool: evidence.tool,
          truncated: evidence.truncated,
          ...readIn(text, { filter, ...range }),
        };
      }
      case 'file_diff':
        return await fileDiff(
          call,
          { look: this.#parts.look, guard: guardedText },
          params as { device_ids: number[]; path: string; other_path?: string },
        );
      default:
        return this.#guide(String(params.key));
    }
  }

  async #search(
    call: ToolCall,
    { query, select }: { query?: string; select?: readonly string[] },
  ): Promise<object> {
    if ((query === undefined) === (select === undefined)) {
      throw errors.query_or_select();
    }
    const { registry, gate } = this.#parts;
    const { principal, origin, persona } = call;
    const skills = await registry().shownTo(principal);
    const usable = skills
      .tools()
      .filter(
        (one) => gate.decide({ principal, origin, persona, tool: one }).verdict !== 'refused',
      );
    // Prompts name a tool by its alias, results by its key.
    const wanted = new Set(select?.map((name) => skills.aliases().get(name)?.key ?? name));
    const found =
      select === undefined ? ranked(query!, usable) : usable.filter(({ key }) => wanted.has(key));
    let left = maxSchemaBytes;
    const shown = found.map(({ key, name, description, class: kind, scope, schema }) => {
      const whole = { key, name, description, class: kind, scope, schema };
      left -= Buffer.byteLength(JSON.stringify(whole));
      return left >= 0 ? whole : { key, name };
    });
    const missing = [...wanted].filter((key) => !found.some((one) => one.key === key));
    const guides =
      select === undefined && mayRead(principal, 'skill')
        ? ranked(query!, skills.guides()).map(({ key, description }) => ({
            key,
            description: description.slice(0, 200),
          }))
        : [];
    return {
      tools: shown,
      ...(missing.length > 0 && { not_available: missing }),
      ...(guides.length > 0 && { guides: guides.slice(0, maxGuides) }),
    };
  }

  #guide(key: string): Guide {
    const found = this.#parts
      .registry()
      .guides()
      .find((one) => one.key === key);
    if (!found) {
      throw errors.no_guide({ key });
    }
    return found;
  }
}

const maxGuides = 3;
