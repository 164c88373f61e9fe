import { answerKinds as answers, clamp, type NodeSignals } from '../signals/node-signals.ts';
import { anomalous, type Scene, worstOf } from './scene.ts';

/**
 * Returns whether a node answers badly while at most one of its dependencies does so enough to
 * account for it.
 */
export function isHitItself(
  id: string,
  but: string,
  { graph, facts }: Scene,
  down: ReadonlySet<string>,
): boolean {
  const node = facts.get(id)!;
  if (worstOf(node, answers) < anomalous) {
    return false;
  }
  return graph
    .needs(id)
    .every(
      (other) => other === but || (!down.has(other) && passedOn(node, facts.get(other)!) < 0.5),
    );
}

/**
 * Returns the share of a node's errors and delay that would exist if it only passed on those of
 * another node.
 */
export function passedOn(node: NodeSignals, other: NodeSignals): number {
  const slow =
    worstOf(node, ['latency']) >= anomalous && node.latency > 0
      ? clamp(other.latency / node.latency)
      : 0;
  const failing =
    worstOf(node, ['error_ratio']) >= anomalous && node.errors > 0
      ? clamp(other.errors / node.errors)
      : 0;
  const mostlyFails = worstOf(node, ['error_ratio', 'errors']) > worstOf(node, ['latency']);
  const timeouts =
    mostlyFails && other.latency > 0 && worstOf(other, ['latency']) >= anomalous ? 0.5 : 0;
  return Math.max(slow, failing, counted(node, other), timeouts);
}

const passedCount = 0.7;

/** Returns what is passed on where failures are only counted: how much of them nobody can say, but that they go together. */
function counted(node: NodeSignals, other: NodeSignals): number {
  const isCounted = (one: NodeSignals): boolean => worstOf(one, ['errors']) >= anomalous;
  const fails = (one: NodeSignals): boolean => worstOf(one, ['error_ratio', 'errors']) >= anomalous;
  return (isCounted(node) && fails(other)) || (fails(node) && isCounted(other)) ? passedCount : 0;
}
