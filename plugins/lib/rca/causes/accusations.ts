import { gates } from '../signals/deviation.ts';
import { answerKinds as answers, type NodeSignals } from '../signals/node-signals.ts';
import { anomalous, type Scene, worstOf } from './scene.ts';

/** Caller that names a node in its lines. */
export interface Accuser {
  readonly name: string;
  readonly evidence: string;
  readonly count: number;
}

const accused = 0.85;
/** Weight of an accusation of a node whose own answers are measured, and calm. */
const denied = 0.8;
/** The same where lines only tell of its answers, and much of it is measured and calm. */
const refuted = 0.5;
const leastWitnesses = 3;
/** Lines on somebody who could not be reached: what is measured of him then says nothing against it. */
const unreached =
  /refused|no route|unreachable|reset by peer|broken pipe|handshake|certificate|x509|tls|ssl/i;
const leastAccusing = 0.2;

/** Suspects those whom the lines of others name: who is gone, or not to be reached, writes none itself. */
export function accuse(
  { facts }: Scene,
  relevance: Map<string, number>,
): ReadonlyMap<string, Accuser> {
  const before = new Map(relevance);
  const accusers = new Map<string, Accuser>();
  for (const [id, node] of facts) {
    const strength = worstOf(node, answers) >= anomalous ? before.get(id)! : 0;
    for (const { log, score, count } of node.templates) {
      if (score < leastAccusing) {
        break;
      }
      for (const peer of log.peers ?? []) {
        const other = facts.get(peer);
        if (other !== undefined) {
          const isCalm = other.deviations.some(
            ({ series, peak }) => answers.includes(series.kind) && peak < gates.relaxed,
          );
          const doubt =
            isWell(other) && !unreached.test(log.template) ? refuted : isCalm ? denied : 1;
          const value = accused * strength * doubt * Math.sqrt(blamedShare(node, peer));
          relevance.set(peer, Math.max(relevance.get(peer)!, value));
          if (value >= anomalous && count > (accusers.get(peer)?.count ?? 0)) {
            accusers.set(peer, { name: node.node.name, evidence: log.evidence, count });
          }
        }
      }
    }
  }
  return accusers;
}

/** Returns whether several things are measured of a node from within, and none of them is wrong. */
const isWell = ({ deviations, signals }: NodeSignals): boolean =>
  deviations.filter(({ series }) => series.outside !== true && series.unit !== 'count').length >=
    leastWitnesses && signals.every(({ relevance }) => relevance < anomalous);

/** Returns whether a node writes new lines of trouble. */
export const tells = ({ templates }: NodeSignals): boolean =>
  templates.some(({ score }) => score >= leastAccusing);

/** Returns the share of a node's new lines of trouble that name another node as the one it called. */
export function blamedShare({ templates }: NodeSignals, id: string): number {
  const telling = templates.filter(({ score }) => score >= leastAccusing);
  const total = telling.reduce((sum, { count }) => sum + count, 0);
  const naming = telling
    .filter(({ log }) => log.peers?.includes(id) === true)
    .reduce((sum, { count }) => sum + count, 0);
  return total === 0 ? 0 : naming / total;
}
