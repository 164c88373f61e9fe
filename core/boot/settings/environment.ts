import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';

import { messageOf, type SettingDeclaration } from '../../sdk/index.ts';
import { errors } from './errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Function that returns a setting's value from the environment, in its declared type; undefined if
 * unset.
 */
export type EnvironmentLayer = (declaration: SettingDeclaration) => unknown;

/** `SVC_NAME`, or the content of the file that `SVC_NAME_FILE` names; read once, because such a file may be gone later. */
export function environmentLayer(environment: Environment): EnvironmentLayer {
  const texts = new Map<string, string | undefined>();

  function textOf(name: string): string | undefined {
    if (!texts.has(name)) {
      texts.set(name, environment[name] ?? fromFile(environment[`${name}_FILE`], `${name}_FILE`));
    }
    return texts.get(name);
  }

  return (declaration) => {
    const text = declaration.env === undefined ? undefined : textOf(declaration.env);
    return text === undefined ? undefined : coerce(text, declaration);
  };
}

function fromFile(path: string | undefined, name: string): string | undefined {
  if (path === undefined) {
    return undefined;
  }
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw errors.variable_file_unreadable({ name, path, cause: messageOf(error) });
  }
}

/** Text that does not read as the declared type stays text, for the schema to refuse. */
function coerce(text: string, { schema, env }: SettingDeclaration): unknown {
  switch ((schema as { type?: string }).type) {
    case 'array':
      return text === ''
        ? []
        : text.split(env?.endsWith('_DIRS') ? delimiter : ',').map((item) => item.trim());
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'integer':
    case 'number':
      return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
    default:
      return text;
  }
}
