import type {
  GateAnswer,
  GateContract,
  GatedPersona,
  GatedTool,
  GateQuestion,
  GateStep,
} from 'svc/contracts/gate';
import type { DirectoryContract } from 'svc/contracts/iam';
import {
  covers,
  mayRead,
  type PermissionMode,
  type Principal,
  type Settings,
  type SkillClass,
} from 'svc/sdk';

import { ArgumentPolicy } from './argument-policy.ts';
import type { PackCeilings } from './pack-ceilings.ts';

export interface GateParts {
  readonly directory: Pick<DirectoryContract, 'live'>;
  readonly settings: Pick<Settings, 'get'>;
  readonly packs?: Pick<PackCeilings, 'refusal' | 'hostRefusal'>;
}

/** Returns the name by which models and MCP clients know a tool: a deny rule may use it. */
const plainName = (key: string): string => key.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60);

/** Current account of the caller. */
interface Standing {
  readonly role: string;
  /** Selectors of their organizations, as text; undefined: they see all devices. */
  readonly sees: string | undefined;
  readonly holds: (action: string) => boolean;
}

/** Skill classes that each permission mode of a persona allows. */
const classesOf: Readonly<Record<PermissionMode, readonly SkillClass[]>> = {
  'read-only': ['safe'],
  'mutating-with-confirm': ['safe', 'mutating'],
  'dual-sign-required': ['safe', 'mutating', 'dangerous'],
};

const refused = (step: GateStep, message: string): GateAnswer => ({
  verdict: 'refused',
  step,
  message,
});

/** Asks one thing after the other; the first that refuses is the answer. */
export class Gate implements GateContract {
  readonly #parts: GateParts;
  readonly #arguments: ArgumentPolicy;

  constructor(parts: GateParts) {
    this.#parts = parts;
    this.#arguments = new ArgumentPolicy(parts.settings);
  }

  decide(question: GateQuestion): GateAnswer {
    const { principal, tool, persona, args } = question;
    const standing = this.#standing(principal);
    if (standing === undefined) {
      return refused(
        'account',
        `${principal.name ?? principal.id} is not an active account; sign in to use tools`,
      );
    }
    const unseen = devicesRefusal(standing, question);
    if (unseen !== undefined) {
      return unseen;
    }
    const wanted = actionsFor(question);
    if (wanted.length > 0 && !wanted.some(standing.holds)) {
      return refused(
        'role',
        `the role ${standing.role} is not allowed to use ${tool.key}, which is ${tool.class}; it needs ${wanted.join(' or ')}`,
      );
    }
    const unread = tool.reads?.find((area) => !mayRead(principal, area));
    if (unread !== undefined) {
      return refused('reading', `the API token lacks read:${unread}, which ${tool.key} needs`);
    }
    const unlisted = personaRefusal(persona, tool);
    if (unlisted !== undefined) {
      return unlisted;
    }
    const pack = this.#parts.packs?.refusal(question);
    if (pack !== undefined) {
      return refused('pack', pack);
    }
    const changes = tool.class !== 'safe';
    const ceiling = changes ? ceilingOf(question, standing.role) : undefined;
    if (ceiling !== undefined) {
      return refused('ceiling', `${tool.key} is ${tool.class}, but ${ceiling} may only read`);
    }
    if (changes && !this.#parts.settings.get<boolean>('agent.write_enabled')) {
      return refused(
        'writes_off',
        `${tool.key} is ${tool.class}, and changes by tools are switched off; an administrator can set agent.write_enabled`,
      );
    }
    const denied = args && this.#arguments.refusal(question);
    return denied === undefined ? verdict(question) : refused('arguments', denied);
  }

  reach(source: string, host: string): GateAnswer {
    const pack = this.#parts.packs?.hostRefusal(source, host);
    return pack === undefined ? { verdict: 'run' } : refused('pack', pack);
  }

  /** Roles may have changed, and accounts may be gone, since the principal was made. */
  #standing({ kind, id, role, grants, selectors }: Principal): Standing | undefined {
    const granted = (action: string): boolean => grants.some((grant) => covers(grant, action));
    if (kind === 'anonymous' || kind === 'edge') {
      return undefined;
    }
    if (kind !== 'user' && kind !== 'token') {
      return { role, sees: textOf(selectors), holds: granted };
    }
    const person = this.#parts.directory.live(Number(id));
    if (person?.status !== 'active') {
      return undefined;
    }
    return {
      role: person.role,
      sees: textOf(person.selectors),
      holds: (action) =>
        person.grants.some((grant) => covers(grant, action)) &&
        (kind === 'user' || granted(action)),
    };
  }
}

const textOf = (selectors: readonly string[] | undefined): string | undefined =>
  selectors && JSON.stringify(selectors);

/** A tool looks with the selectors of the call: they must be those of now. */
function devicesRefusal(
  { sees }: Standing,
  { principal, tool }: GateQuestion,
): GateAnswer | undefined {
  if (sees !== textOf(principal.selectors)) {
    return refused('devices', 'the devices that you can see have changed since; try again');
  }
  return sees === undefined || tool.devices !== undefined
    ? undefined
    : refused(
        'devices',
        `${tool.key} cannot be limited to the devices of your organization; ask an administrator`,
      );
}

/** Returns a refusal by the persona's fields, or by those of the persona it works for. */
function personaRefusal(
  persona: GatedPersona | undefined,
  tool: GatedTool,
): GateAnswer | undefined {
  if (persona === undefined) {
    return undefined;
  }
  const { name, tools, disallowed_tools: denied, permission_mode: mode, within } = persona;
  if (tools.length > 0 && !tools.includes(tool.key)) {
    return refused('allow', `${tool.key} is not among the tools of ${name}`);
  }
  if (denied.some((one) => one === tool.key || one === plainName(tool.key))) {
    return refused('deny', `${tool.key} is among the disallowed tools of ${name}`);
  }
  if (!classesOf[mode].includes(tool.class)) {
    return refused(
      'mode',
      `${tool.key} is ${tool.class}, which ${name} is not allowed to use in the mode ${mode}`,
    );
  }
  return personaRefusal(within, tool);
}

/** One of these; none: every person who is signed in. */
function actionsFor({ tool: { class: kind, source, key } }: GateQuestion): readonly string[] {
  if (kind !== 'safe') {
    return ['skill:*'];
  }
  return source === 'edge' ? ['device:read', `skill:${key}`] : [];
}

/** Returns the ceiling of callers who may only read, whatever role and persona allow. */
function ceilingOf(
  { origin, principal: { kind } }: GateQuestion,
  role: string,
): string | undefined {
  if (role === 'viewer') {
    return 'a viewer';
  }
  if (origin === 'investigation') {
    return 'an investigation';
  }
  if (origin === 'im' && kind !== 'user') {
    return 'a chat platform without a linked account';
  }
  if (origin === 'mcp' && kind === 'token') {
    return 'an MCP client with an API token';
  }
  return kind === 'plugin' || kind === 'system' ? 'what no person has asked for' : undefined;
}

/** A person who calls a tool by hand has said so with the call, which a program with an API token has not; what is dangerous takes two all the same. */
function verdict({ principal, tool, origin, persona, tainted }: GateQuestion): GateAnswer {
  const byHand =
    origin === 'api' && persona === undefined && tainted !== true && principal.kind !== 'token';
  if (tool.class === 'safe' || (tool.class === 'mutating' && byHand)) {
    return { verdict: 'run' };
  }
  return { verdict: 'approval', signatures: tool.class === 'dangerous' ? 2 : 1 };
}
