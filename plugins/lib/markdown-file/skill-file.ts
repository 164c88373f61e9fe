import type { PromptSkill } from 'svc/sdk';

import { errors } from './errors.ts';
import { markdownReader, type Where } from './header-schema.ts';
import skillSchema from './skill.schema.json' with { type: 'json' };

interface SkillHeader {
  readonly name: string;
  readonly description: string;
  readonly 'allowed-tools': string | readonly string[];
}

const read = markdownReader<SkillHeader>(skillSchema);

/** A prompt skill from the `SKILL.md` of its folder (Agent Skills format). */
export function readSkill(text: string, folderName: string, where: Where): PromptSkill {
  const { known, others, body } = read(text, where);
  if (known.name !== folderName) {
    throw errors.name_and_folder({ file: where.file, name: known.name, folderName });
  }
  return Object.freeze({
    kind: 'prompt',
    key: known.name,
    name: known.name,
    description: known.description,
    tools: Object.freeze(toolNames(known['allowed-tools'])),
    extra: others,
    body,
  });
}

/**
 * Parses tool names: both `Read, Bash(git log:*)` and `Read Bash(git log:*)` are two; a list is
 * taken unchanged.
 */
function toolNames(tools: string | readonly string[]): string[] {
  return typeof tools === 'string' ? (tools.match(/[^\s,()]+(?:\([^()]*\))?/g) ?? []) : [...tools];
}
