export {
  type EdgeHelloState,
  type EdgeWelcome,
  EnrolAnswer,
  EnrolRequest,
  HostPolicy,
  type Introduced,
  PolicyEvent,
  RotateSecret,
  UpgradeOrder,
  type UpgradeState,
  upgradeStates,
  UpgradeStateEvent,
} from './agent.ts';
export {
  BufferDamage,
  BufferEvent,
  ClockEvent,
  HostSnapshot,
  Process,
  Processes,
  ProcessesParams,
  type PushParams,
} from './data.ts';
export { AgentVersion, Arch, Sha256Hex, Timestamp } from './fields.ts';
export {
  type ConfigApplied,
  ConfigApply,
  EdgePluginFile,
  PluginHealth,
  PluginHealthEvent,
  PluginKind,
  PluginName,
  pluginStates,
  PluginStatusAnswer,
} from './plugins.ts';
export { type HostInfo, oneLine, readHostInfo } from './host-info.ts';
export { OfferedSkill, ReadOn, SkillAnswer, SkillList, type SkillOrder } from './skills.ts';
