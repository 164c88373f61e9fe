import type {
  ChannelMessage,
  ChannelType,
  DeclaredChannelType,
  PostedChannelType,
} from 'svc/contracts/notify';
import { fitted, markdown } from 'svc/im';
import { messageOf } from 'svc/sdk';
import { compileTemplate, templateFunction } from 'svc/template';

import { errors } from './errors.ts';
import { jsonHeaders, requireUrl, wrongEndpoint } from './hook-address.ts';
import { httpVerdict, jsonReply, platformSaid, strange } from './http-verdict.ts';

const functions = new Map([
  ['json', templateFunction(1, 1, ([value]) => JSON.stringify(value ?? ''))],
]);
const limits = { output: 512 * 1024, steps: 50_000 };

/** A kind of channel that a pack describes without code. What strangers have written is harmless wherever markdown is read. */
export function declaredType({
  title,
  secret = 'none',
  limits: paces,
  hosts,
  headers,
  body,
  max_text_bytes: maxBytes,
  success,
}: DeclaredChannelType): PostedChannelType {
  const template = compileTemplate(body, { functions, limits });
  return {
    title,
    secret,
    limits: paces,
    check(address) {
      const { hostname } = requireUrl(address, `https://${hosts?.[0] ?? 'example.org'}/…`);
      if (hosts !== undefined && !hosts.includes(hostname)) {
        throw wrongEndpoint(`leads to one of ${hosts.join(', ')}`);
      }
    },
    render({ title: head, lines, link, severity, kind, delivery_id }, { endpoint, secret: key }) {
      const most = maxBytes - Buffer.byteLength(link) - 1;
      const text = [
        fitted(lines, { most, link, escape: markdown }),
        ...(link === '' ? [] : [link]),
      ].join('\n');
      return {
        url: endpoint,
        headers: { ...jsonHeaders, ...headers },
        body: template.render({
          title: markdown(head),
          text,
          link,
          severity,
          kind,
          delivery_id,
          secret: key,
        }),
      };
    },
    judge(reply, now) {
      const verdict = httpVerdict(reply, now);
      if (verdict !== undefined || success === undefined) {
        return verdict ?? { result: 'sent' };
      }
      const said = jsonReply(reply);
      if (said === undefined || !Object.hasOwn(said, success.member)) {
        return strange(reply);
      }
      const value = said[success.member];
      return value === success.equals
        ? { result: 'sent' }
        : {
            result: 'failed',
            reason: platformSaid(`${success.member} ${String(value)}`, said['message']),
          };
    },
  };
}

/** Returns what is wrong with a description beyond its schema: a template that does not compile, or fails on a message. */
export function problemOf(id: string, value: DeclaredChannelType): string | undefined {
  if (ownNames.includes(id)) {
    return 'the name belongs to a channel type that ships with svc; choose another';
  }
  try {
    declaredType(value).render(
      sample,
      { endpoint: 'https://example.org/', secret: 'secret' },
      { now: 0, plain: false },
    );
    return undefined;
  } catch (error) {
    return `its body cannot be made: ${messageOf(error)}`;
  }
}

/** Names of channel types that other plugins of svc contribute by code, whether they run or not. */
const ownNames: readonly string[] = ['email', 'im'];

const sample: ChannelMessage = {
  delivery_id: 'd1',
  kind: 'firing',
  severity: 'critical',
  tone: 'critical',
  title: 'Disk of web-1 is full',
  lines: ['Used 97 %'],
  about: [],
  facts: [],
  steps: [],
  link: 'https://svc.example.org/ui/incidents/1',
  templated: false,
};

/** Throws unless the value is a type with code, or a description of one. */
export function readType(value: ChannelType | DeclaredChannelType): ChannelType {
  if ('render' in value || 'deliver' in value) {
    return value;
  }
  if (typeof value.body !== 'string' || typeof value.max_text_bytes !== 'number') {
    throw errors.no_way();
  }
  return declaredType(value);
}
