/** Version of the rules, raised with every change: installed packs are then rescanned. */
export const rulesVersion = 7;

export type Severity = 'info' | 'review' | 'block';

export interface Finding {
  readonly rule: string;
  readonly severity: Severity;
  readonly file: string;
  /** 0: the file as a whole. */
  readonly line: number;
  readonly message: string;
}

/** Rule for one line of a text; the first matching line of a file is reported. */
interface LineRule {
  readonly rule: string;
  readonly severity: Severity;
  readonly form: RegExp;
  /** True for prose, which continues in the next line. */
  readonly isProse?: true;
  readonly message: string;
}

/** Every pattern is a plain run over the line: none can take more than its length. */
export const lineRules: readonly LineRule[] = [
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /\b(?:curl|wget)\b[^|;\n]{0,300}\|\s{0,4}(?:sudo\s{1,4}(?:-\w{1,10}\s{1,4}){0,3})?(?:\/[\w/]{1,40}\/)?(?:(?:ba|z|da|k|fi)?sh\b|(?:python[23]?|node|perl|ruby)\s{0,4}-?\s{0,4}(?:$|[`'"]))/i,
    message: 'has readers pipe a download into a shell',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /(?:\b(?:(?:ba|z|da|k)?sh|source|python[23]?|node|eval)|(?:^|[\s`;&])\.)\s{1,4}(?:-\w{1,10}\s{1,4}){0,3}["']?(?:<\(|\$\(|`)\s{0,4}(?:sudo\s{1,4})?(?:curl|wget)\b/i,
    message: 'has readers run a download as they get it',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /\b(?:iex|invoke-expression)\b[^\n]{0,80}\b(?:iwr|irm|invoke-webrequest|downloadstring)\b|powershell[^\n]{0,60}\s-(?:enc|encodedcommand)\b/i,
    message: 'has readers run a downloaded PowerShell text',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /\b(?:iwr|irm|invoke-webrequest|invoke-restmethod)\b[^|\n]{0,300}\|\s{0,4}(?:iex|invoke-expression)\b/i,
    message: 'has readers pipe a download into PowerShell',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /\b(?:exec|eval)\s{0,4}\([^\n]{0,160}\b(?:urlopen|requests\.get|httpx\.get|fetch)\s{0,4}\(/,
    message: 'has readers run code that a program downloads',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'review',
    isProse: true,
    form: /\b(?:curl|wget)\b[^|\n]{0,160}(?:\s-[oO]\b|\s--output|>)[^|\n]{0,100}(?:;|&&|\s)\s{0,4}(?:sudo\s{1,4})?(?:chmod\s{1,4}\S{0,6}x|(?:ba|z|da|k)?sh|source|python[23]?|perl|ruby|node)\s{1,4}["']?[/.~$\w]/,
    message: 'has readers run a file that they download',
  },
  {
    rule: 'remote-shell',
    severity: 'block',
    form: /\b(?:nc|ncat|netcat)\b[^\n]{0,80}\s-(?:e|c)\s{1,4}\S{0,20}(?:sh|cmd(?:\.exe)?)\b|sh\s{1,4}-i\b[^\n]{0,40}\/dev\/(?:tcp|udp)\//,
    message: 'opens a shell for another machine',
  },
  {
    rule: 'fake-prerequisite',
    severity: 'block',
    form: /base64\s{1,4}(?:-d|-D|--decode)\b[^|\n]{0,120}\|\s{0,4}(?:sudo\s{1,4})?(?:ba|z)?sh\b/,
    message: 'has readers run what is hidden in base64',
  },
  {
    rule: 'locked-archive',
    severity: 'block',
    form: /\b(?:unzip|7z\s{1,4}x|unrar\s{1,4}x)\b[^\n]{0,80}\s-[pP]\s?\S|\b(?:archive|zip)\b[^\n]{0,40}\bpassword\s{0,4}(?:is|:)/i,
    message: 'has readers open an archive with a password, which keeps scanners out',
  },
  {
    rule: 'exfiltration-address',
    severity: 'block',
    form: /\b(?:webhook\.site|requestbin\.\w+|[\w-]+\.pipedream\.net|[\w-]+\.(?:ngrok\.io|ngrok-free\.app)|burpcollaborator\.net|interact\.sh|oast\.(?:pro|live|fun|me)|transfer\.sh|discord(?:app)?\.com\/api\/webhooks|api\.telegram\.org\/bot)/i,
    message: 'names an address that data is carried off to',
  },
  {
    rule: 'exfiltration-address',
    severity: 'block',
    form: /(?:\bhttps?:\/\/(?:www\.)?|\bnc\s{1,4})(?:paste\.rs|0x0\.st|ix\.io|file\.io|termbin\.com|dpaste\.(?:com|org)|hastebin\.com|pastebin\.com\/api|rentry\.co|requestcatcher\.com|[\w-]+\.requestcatcher\.com|[\w-]+\.beeceptor\.com)\b/i,
    message: 'names a place where anybody may put down what was carried off',
  },
  {
    rule: 'embedded-page',
    severity: 'review',
    form: /<(?:iframe|frame|embed|object|script|link|base|meta)\b[^>]{0,200}\b(?:src|srcdoc|data|href|content)\s{0,4}=\s{0,4}["']?(?:\d{1,4};\s{0,4}url=)?(?:https?:)?\/\//i,
    message: 'embeds content of another host in its text',
  },
  {
    rule: 'link-carries-data',
    severity: 'review',
    isProse: true,
    form: /\b(?:image|picture|pixel|badge|logo)\b[^\n]{0,160}\bhttps?:\/\/[^\s)]{1,300}[?=/&](?:\{|\$|%7B|<[a-z])/i,
    message: 'has a picture made whose address is filled with data',
  },
  {
    rule: 'remote-instructions',
    severity: 'review',
    isProse: true,
    form: /\b(?:fetch|get|download|open|read|load|retrieve|request|visit|browse|curl)\b[^\n]{0,120}\bhttps?:\/\/\S{1,300}[^\n]{0,160}\b(?:follow|obey|execute|carry\s{1,4}out|act\s{1,4}on|comply\s{1,4}with|apply|run|do)\s{1,4}(?:all\s{1,4}|each\s{1,4}|exactly\s{1,4}|as\s{1,4}){0,2}(?:it|its|them|whatever|what|(?:the\s{1,4}|these\s{1,4}|those\s{1,4})?(?:instructions?|steps?|commands?|answer|contents?|response|script)|the\s{1,4}(?:text|result))\b/i,
    message: 'has a model follow what an address answers',
  },
  {
    rule: 'remote-instructions',
    severity: 'review',
    isProse: true,
    form: /\bhttps?:\/\/\S{1,300}[^\n]{0,120}\b(?:continues?|completes?|extends?)\s{1,4}(?:this|these|the)\s{1,4}(?:guide|document|instructions?|steps?)\b|\btreat\s{1,4}(?:it|this|that|them|(?:the|its)\s{1,4}(?:page|answer|response|text|result|content)s?)\s{1,4}as\s{1,4}(?:a\s{1,4}|an\s{1,4})?(?:part|continuation|instructions?|steps?|rules?|orders?)\b/i,
    message: 'has a model take what an address answers for a part of its guide',
  },
  {
    rule: 'remote-instructions',
    severity: 'review',
    isProse: true,
    form: /\b(?:instructions?|steps|commands|orders)\s{1,4}(?:(?:are|is|can\s{1,4}be\s{1,4}found|come)\s{1,4})?(?:from|at|on|in)\s{1,4}[`"'(<]?(?:https?:\/\/|(?:[a-z0-9-]{1,60}\.){1,6}[a-z]{2,20}\/)|\b(?:consult|ask|obey|follow)\s{1,4}(?:the\s{1,4}\w{1,20}\s{1,4}(?:at|on)\s{1,4})?[`"'(<]?(?:https?:\/\/\S{1,300}|(?:[a-z0-9-]{1,60}\.){1,6}[a-z]{2,20})[^\n]{0,80}\band\s{1,4}(?:obey|follow|do\s{1,4}what)\b/i,
    message: 'has a model get its instructions elsewhere',
  },
  {
    rule: 'credentials-sent',
    severity: 'block',
    form: /\b(?:curl|wget|fetch|nc)\b[^\n]{0,200}(?:\$\(\s{0,4}cat\s|@)[^\n]{0,40}(?:\.ssh\/|id_rsa|\.aws\/credentials|\.env\b|\.netrc)/i,
    message: 'sends a file with credentials away',
  },
  {
    rule: 'credential-path',
    severity: 'review',
    form: /(?:~|\$HOME|\/root|\/home\/\w+)\/\.(?:ssh|aws|gnupg|kube|docker)\/|\bid_(?:rsa|ed25519)\b|\/etc\/shadow\b|\/proc\/(?:self|\d{1,9}|\$\$|\*)\/environ\b|\.aws\/credentials|\.netrc\b|\bcat\s{1,4}\S{0,60}\.env\b|Login Data\b.{0,40}Chrome|security\s{1,4}find-generic-password/,
    message: 'names a place where credentials lie',
  },
  {
    rule: 'credential-path',
    severity: 'review',
    isProse: true,
    form: /\b(?:collect|gather|copy|cat|dump|send|upload|read\s{1,4}out)\b[^\n]{0,120}(?<![\w/])\.env\b/i,
    message: 'has files with credentials collected',
  },
  {
    rule: 'prompt-override',
    severity: 'review',
    isProse: true,
    form: /\b(?:ignore|disregard|forget|override)\s{1,4}(?:all\s{1,4}|any\s{1,4}|the\s{1,4}|your\s{1,4}){0,3}(?:previous|prior|above|earlier|system|other)\s{1,4}(?:instructions?|prompts?|rules|guidelines|messages?)/i,
    message: 'tells a model to leave its instructions aside',
  },
  {
    rule: 'prompt-override',
    severity: 'review',
    isProse: true,
    form: /\b(?:ignore|disregard|forget|override)\s{1,4}(?:(?:everything|anything|all|whatever)\s{1,4}(?:that\s{1,4})?(?:is\s{1,4}|was\s{1,4}|came\s{1,4}|stands\s{1,4})?(?:above|before|so\s{1,4}far|you\b)|(?:all\s{1,4}|the\s{1,4}|your\s{1,4}|any\s{1,4}){1,3}(?:rules|instructions?|prompts?|guidelines)\s{1,4}(?:you|that|given|so\s{1,4}far|from)\b)/i,
    message: 'tells a model to leave aside what it was told',
  },
  {
    rule: 'prompt-override',
    severity: 'review',
    isProse: true,
    form: /\b(?:do\s{1,4}not|don't|never)\s{1,4}(?:tell|inform|mention\s{1,4}(?:this\s{1,4})?to|alert|notify|ask|show)\s{1,4}(?:this\s{1,4}(?:to\s{1,4})?)?the\s{1,4}(?:user|operator|admin\w*|human)\b(?!\s{1,4}(?:to|for|if|when|about|which|what|whether|how|any|questions))/i,
    message: 'tells a model to hide what it does from its user',
  },
  {
    rule: 'prompt-override',
    severity: 'review',
    isProse: true,
    form: /\bwithout\s{1,4}(?:asking|telling|informing|confirmation\s{1,4}from|approval\s{1,4}(?:of|from)|the\s{1,4}knowledge\s{1,4}of)\s{1,4}(?:the\s{1,4})?(?:user|operator|admin\w*|human)\b|<\/?(?:system|system-reminder|critical_reminder)>/i,
    message: 'speaks as the system, or past the user',
  },
  {
    rule: 'address-by-number',
    severity: 'review',
    form: /\bhttps?:\/\/(?!127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|(?:192\.0\.2|198\.51\.100|203\.0\.113)\.)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/,
    message: 'names a host of the internet by its number',
  },
  {
    rule: 'base64-blob',
    severity: 'review',
    form: /[A-Za-z0-9+/]{400}/,
    message: 'has a long text that cannot be read by people',
  },
];

/** Address of another host that is to be filled with data, by whether it is loaded without a click. */
export const filledAddress = {
  loaded: {
    rule: 'picture-carries-data',
    severity: 'block',
    message: 'shows a picture whose address is filled with data, which its host gets',
  },
  followed: {
    rule: 'link-carries-data',
    severity: 'review',
    message: 'has a link whose address is filled with data',
  },
} as const;

/** Two halves of one deed, which guides may share: each is ordinary alone. */
export const collectsSecrets =
  /\b(?:collect|gather|read|copy|cat|dump|include|save|store|note|append|write|put|take|find|grep)\b[^\n]{0,120}(?:(?<!\w)\.env\b|\b(?:secrets?|passwords?|credentials?|private\s{1,4}keys?|api[\s_-]{1,4}keys?|access\s{1,4}tokens?|environment\s{1,4}variables)\b)/i;
export const sendsTo =
  /\b(?:POST|send|upload|submit|push|forward|share|report|curl)\b[^\n]{0,160}\bhttps?:\/\/(?:[^\s/@"'<>]{1,100}@)?([a-z0-9.-]{1,200})/i;

/** A host without http:// before it; names of files are none. */
export const sendsAway =
  /\b(?:POST|send|upload|submit|push|forward|share|deliver|transmit|e?-?mail|hand)\b[^\n]{0,160}\b(?:to|at|into)\s{1,4}[`"'(<]?(?:[\w.+-]{1,60}@)?((?:[a-z0-9-]{1,60}\.){1,6}(?!(?:md|ya?ml|json|txt|conf|cfg|ini|toml|log|service|socket|timer|sh|py|js|ts|html?|db|sql|csv|d|sock|pid|target|mount|xml|lock|gz|zip|tar)\b)[a-z]{2,20})\b/i;
