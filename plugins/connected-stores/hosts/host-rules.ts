import { compileRegex, type Pattern } from 'svc/query';
import { messageOf } from 'svc/sdk';

import { errors } from './errors.ts';
import type { Labels } from '../prometheus/server.ts';
import type { HostRule } from './host-rule.ts';

/** Rule that names a host by one label. */
export interface NamingRule {
  readonly label: string;
  readonly pattern: Pattern;
  readonly template: string;
  /** Set by a person: hosts of one name are one host then. */
  readonly isOwn: boolean;
}

/** Rules of every store, after its own ones. */
const shipped: readonly HostRule[] = [
  { label: 'host.name' },
  { label: 'host_name' },
  { label: 'nodename' },
  { label: 'instance', regex: '\\[?(.+?)\\]?(?::\\d+)?' },
  { label: 'instance' },
];

const shippedRules = shipped.map((rule) => namingRule(rule, false));

/** Returns the rules of a store; throws invalid_argument for one with an invalid regex. */
export const namingRules = (own: readonly HostRule[]): readonly NamingRule[] => [
  ...own.map((rule) => namingRule(rule, true)),
  ...shippedRules,
];

function namingRule(
  { label, regex = '(.*)', template = '$1' }: HostRule,
  isOwn: boolean,
): NamingRule {
  try {
    return {
      label,
      pattern: compileRegex(regex, { anchored: true, dotAll: true }),
      template,
      isOwn,
    };
  } catch (error) {
    throw errors.host_rule({ label, cause: messageOf(error) });
  }
}

/** The name that a rule gives; undefined if its label is absent or does not fit. */
export function nameBy(
  { label, pattern, template }: NamingRule,
  labels: Labels,
): string | undefined {
  const value = labels[label];
  if (value === undefined || value === '') {
    return undefined;
  }
  const groups = pattern.exec(value);
  const name = groups && pattern.expand(groups, template).trim();
  return name === undefined || name === '' || name.length > 253 ? undefined : name;
}
