import { isSecretName, redactCommandsIn, redactText } from 'svc/probe';

import { hidden, writtenSecrets } from './written-secrets.ts';

const deepest = 40;

/** Escape sequences of terminals: operating system commands and their like, then control sequences, then the short ones. */
const escapes =
  // oxlint-disable-next-line no-control-regex -- these are what is taken out
  /[\u001b\u009d\u0090][\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g;
/**
 * Matches control characters except tab and line feed; zero-width characters, changes of direction,
 * and invisible tags.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- as above
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
/** Keys of a row or a thing, such as rule_key, are no secrets; those that open something are. */
const plainKey =
  /^(?:(?!api|access|private|signing|encryption|master|shared|account|ssh|session|license|auth|secret)[a-z]+[_-])*key$/i;

/**
 * The one way by which results of tools reach people, models, the disk: plain data, in which secrets are hidden by name and
 * by shape, and no text holds what a terminal or a reader would not see. The fields that a schema tells of are no values.
 */
export function guarded(value: unknown, depth = 0, isFieldTable = false): unknown {
  switch (typeof value) {
    case 'string':
      return guardedText(value);
    case 'bigint':
      return String(value);
    case 'object':
      break;
    case 'function':
    case 'symbol':
      return null;
    default:
      return value;
  }
  if (value === null || depth > deepest) {
    return value === null ? null : '…';
  }
  if (ArrayBuffer.isView(value)) {
    return guarded([...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)], depth);
  }
  if (Array.isArray(value)) {
    return value.map((item) => guarded(item, depth + 1));
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return guarded(value.toJSON(), depth + 1);
  }
  const isSchema = (value as { type?: unknown }).type === 'object';
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      guardedText(name),
      isSecretField(name) && holdsValue(item) && !(isFieldTable && typeof item === 'object')
        ? hidden
        : guarded(item, depth + 1, isSchema && name === 'properties'),
    ]),
  );
}

/**
 * Returns the path of the first name or text that `guarded` would change, or undefined. People must
 * not sign a call of which they see a part only.
 */
export function hiddenPart(value: unknown, path = ''): string | undefined {
  if (typeof value === 'string') {
    return guardedText(value) === value ? undefined : path;
  }
  if (typeof value !== 'object' || value === null) {
    return undefined;
  }
  for (const [name, item] of Object.entries(value)) {
    const place = path === '' ? visible(name) : `${path}.${visible(name)}`;
    const isHidden = guardedText(name) !== name || (isSecretField(name) && holdsValue(item));
    const found = isHidden ? place : hiddenPart(item, place);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

const holdsValue = (item: unknown): boolean =>
  item !== null && typeof item !== 'number' && typeof item !== 'boolean';

/** Redacts a text; invisible characters are removed first, as they could split a secret. */
export const guardedText = (text: string): string =>
  writtenSecrets.reduce(
    (safe, [shape, replacement]) => safe.replace(shape, replacement),
    withoutSecretsOfCommands(redactText(visible(text))),
  );

/** A command has an argument, so a text of one word is none. */
const withoutSecretsOfCommands = (text: string): string =>
  /\s/.test(text) ? text.split('\n').map(redactCommandsIn).join('\n') : text;

export const visible = (text: string): string => text.replace(escapes, '').replace(unseen, '');

function isSecretField(name: string): boolean {
  const plain = visible(name);
  return isSecretName(plain) && !plainKey.test(plain);
}
