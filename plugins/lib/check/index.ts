export {
  type Address,
  type CertificateFacts,
  type CommandResult,
  type Facts,
  type Finding,
  type Order,
  type Phases,
  type Place,
  type Reading,
  recordTypes,
} from './model/check.ts';
export { type Browser, Chromium, chromiumNames, type ChromiumParts } from './browser/chromium.ts';
export { PlaceFault } from './browser/place-fault.ts';
export { maxPicture } from './browser/page.ts';
export { maxSteps, type Step, stepKinds, type StepResult } from './model/step.ts';
export { type CheckKind, checkKinds, kindOf } from './model/kinds.ts';
export { maskedTarget } from './model/masked-target.ts';
export { parseCondition, placeholders } from './conditions/condition.ts';
export { usualConditions } from './conditions/judge.ts';
export { orderFault } from './order-fault.ts';
export { probe } from './probe.ts';
export { isUnsaid, saidOf } from './probes/command.ts';
