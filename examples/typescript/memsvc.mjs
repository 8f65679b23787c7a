// Written by 'make client' from the OpenAPI document.
const OPERATIONS = {
  createAnthropicMessage: ["POST", "/anthropic/v1/messages"],
  readContext: ["GET", "/context"],
  readGraph: ["GET", "/graph"],
  getHealth: ["GET", "/health"],
  addMemory: ["POST", "/memory"],
  getMetrics: ["GET", "/metrics"],
  search: ["GET", "/search"],
  readAgenda: ["GET", "/v1/agenda"],
  listAliases: ["GET", "/v1/aliases"],
  listAnalyses: ["GET", "/v1/analysis/runs"],
  getAnalysis: ["GET", "/v1/analysis/runs/{run_id}"],
  listAnalysisResults: ["GET", "/v1/analysis/runs/{run_id}/results"],
  analyse: ["POST", "/v1/analysis/{kind}"],
  answerQuestion: ["POST", "/v1/answer"],
  getArchive: ["GET", "/v1/archive"],
  switchForgetting: ["PUT", "/v1/archive"],
  listArchived: ["GET", "/v1/archive/memories"],
  restoreMemories: ["POST", "/v1/archive/restore"],
  listActs: ["GET", "/v1/audit"],
  listBudgets: ["GET", "/v1/budgets"],
  setBudget: ["PUT", "/v1/budgets"],
  listChanges: ["GET", "/v1/changes"],
  writeChanges: ["POST", "/v1/changes"],
  describeChange: ["GET", "/v1/changes/{change_id}"],
  undoChange: ["POST", "/v1/changes/{change_id}/undo"],
  createChatCompletion: ["POST", "/v1/chat/completions"],
  buildContext: ["POST", "/v1/context"],
  listConversations: ["GET", "/v1/conversations"],
  forgetConversation: ["DELETE", "/v1/conversations/{conversation}"],
  listMessages: ["GET", "/v1/conversations/{conversation}/messages"],
  addCritique: ["POST", "/v1/critique"],
  listDocuments: ["GET", "/v1/documents"],
  addDocuments: ["POST", "/v1/documents"],
  getDocument: ["GET", "/v1/documents/{document_id}"],
  documentStaleness: ["GET", "/v1/documents/{document_id}/staleness"],
  documentVersions: ["GET", "/v1/documents/{document_id}/versions"],
  listDuplicates: ["GET", "/v1/duplicates"],
  splitNode: ["POST", "/v1/duplicates/{node_id}/split"],
  acceptDuplicate: ["POST", "/v1/duplicates/{node_id}/{other_id}/accept"],
  rejectDuplicate: ["POST", "/v1/duplicates/{node_id}/{other_id}/reject"],
  reopenDuplicate: ["POST", "/v1/duplicates/{node_id}/{other_id}/reopen"],
  listErasures: ["GET", "/v1/erasures"],
  getErasure: ["GET", "/v1/erasures/{erasure_id}"],
  listEvents: ["GET", "/v1/events"],
  exportUser: ["GET", "/v1/export"],
  extract: ["POST", "/v1/extract"],
  listExtractions: ["GET", "/v1/extractions"],
  pauseExtraction: ["POST", "/v1/extractions/pause"],
  listRereadings: ["GET", "/v1/extractions/rereadings"],
  reread: ["POST", "/v1/extractions/rereadings"],
  previewRereading: ["GET", "/v1/extractions/rereadings/dry-run"],
  getRereading: ["GET", "/v1/extractions/rereadings/{rereading_id}"],
  listRereadFacts: ["GET", "/v1/extractions/rereadings/{rereading_id}/facts"],
  stopRereading: ["POST", "/v1/extractions/rereadings/{rereading_id}/stop"],
  undoRereading: ["POST", "/v1/extractions/rereadings/{rereading_id}/undo"],
  listFacts: ["GET", "/v1/facts"],
  addFact: ["POST", "/v1/facts"],
  listContradictions: ["GET", "/v1/facts/contested"],
  describeFact: ["GET", "/v1/facts/{edge_id}"],
  forgetFact: ["DELETE", "/v1/facts/{edge_id}"],
  correctFact: ["PATCH", "/v1/facts/{edge_id}"],
  annotateFact: ["POST", "/v1/facts/{edge_id}/annotations"],
  retractFact: ["POST", "/v1/facts/{edge_id}/retract"],
  listFeeds: ["GET", "/v1/feeds"],
  addFeed: ["POST", "/v1/feeds"],
  getFeed: ["GET", "/v1/feeds/{feed_id}"],
  changeFeed: ["PUT", "/v1/feeds/{feed_id}"],
  removeFeed: ["DELETE", "/v1/feeds/{feed_id}"],
  pauseFeed: ["POST", "/v1/feeds/{feed_id}/pause"],
  pushToFeed: ["POST", "/v1/feeds/{feed_id}/push"],
  resumeFeed: ["POST", "/v1/feeds/{feed_id}/resume"],
  runFeed: ["POST", "/v1/feeds/{feed_id}/run"],
  listFeedRuns: ["GET", "/v1/feeds/{feed_id}/runs"],
  renewFeedSecret: ["POST", "/v1/feeds/{feed_id}/secret"],
  listFigures: ["GET", "/v1/figures"],
  pageGraph: ["GET", "/v1/graph"],
  readConversationGraph: ["GET", "/v1/graph/conversation"],
  askCypher: ["POST", "/v1/graph/cypher"],
  diffGraph: ["GET", "/v1/graph/diff"],
  walkNeighbourhood: ["GET", "/v1/graph/neighbourhood"],
  findPaths: ["GET", "/v1/graph/paths"],
  graphStats: ["GET", "/v1/graph/stats"],
  readSubgraph: ["GET", "/v1/graph/subgraph"],
  hookMessage: ["POST", "/v1/hooks/message"],
  hookResponse: ["POST", "/v1/hooks/response"],
  hookSessionEnd: ["POST", "/v1/hooks/session-end"],
  listIngests: ["GET", "/v1/ingests"],
  getIngest: ["GET", "/v1/ingests/{ingest_id}"],
  endIngest: ["DELETE", "/v1/ingests/{ingest_id}"],
  continueIngest: ["POST", "/v1/ingests/{ingest_id}/continue"],
  listJobs: ["GET", "/v1/jobs"],
  getJob: ["GET", "/v1/jobs/{job_id}"],
  cancelJob: ["POST", "/v1/jobs/{job_id}/cancel"],
  retryJob: ["POST", "/v1/jobs/{job_id}/retry"],
  listKeys: ["GET", "/v1/keys"],
  makeKey: ["POST", "/v1/keys"],
  listKeyUse: ["GET", "/v1/keys/use"],
  revokeKey: ["DELETE", "/v1/keys/{key_id}"],
  limitKey: ["PUT", "/v1/keys/{key_id}/limits"],
  setKeyScopes: ["PUT", "/v1/keys/{key_id}/scopes"],
  listLessons: ["GET", "/v1/lessons"],
  getLesson: ["GET", "/v1/lessons/{critique_id}"],
  acceptLesson: ["POST", "/v1/lessons/{critique_id}/accept"],
  rejectLesson: ["POST", "/v1/lessons/{critique_id}/reject"],
  createLink: ["POST", "/v1/links"],
  closeLink: ["POST", "/v1/links/close"],
  makeTicket: ["POST", "/v1/live/ticket"],
  getMe: ["GET", "/v1/me"],
  getPause: ["GET", "/v1/me/pause"],
  pauseMemory: ["PUT", "/v1/me/pause"],
  resumeMemory: ["DELETE", "/v1/me/pause"],
  getPolicy: ["GET", "/v1/me/policy"],
  setPolicy: ["PUT", "/v1/me/policy"],
  openMemory: ["GET", "/v1/memories/{memory_id}"],
  markMemory: ["PATCH", "/v1/memories/{memory_id}"],
  promoteMemory: ["POST", "/v1/memories/{memory_id}/promote"],
  addMessages: ["POST", "/v1/messages"],
  forgetMessage: ["DELETE", "/v1/messages/{passage_id}"],
  listModels: ["GET", "/v1/models"],
  nearby: ["GET", "/v1/nearby"],
  searchNodes: ["GET", "/v1/nodes"],
  addNode: ["POST", "/v1/nodes"],
  describeNode: ["GET", "/v1/nodes/{node_id}"],
  forgetNode: ["DELETE", "/v1/nodes/{node_id}"],
  correctNode: ["PATCH", "/v1/nodes/{node_id}"],
  addAliases: ["POST", "/v1/nodes/{node_id}/aliases"],
  retractAliases: ["POST", "/v1/nodes/{node_id}/aliases/retract"],
  nodeHistory: ["GET", "/v1/nodes/{node_id}/history"],
  nodeLocations: ["GET", "/v1/nodes/{node_id}/location"],
  locateNode: ["POST", "/v1/nodes/{node_id}/location"],
  endLocation: ["DELETE", "/v1/nodes/{node_id}/location"],
  mergeNode: ["POST", "/v1/nodes/{node_id}/merge"],
  unmergeNode: ["POST", "/v1/nodes/{node_id}/unmerge"],
  listNotes: ["GET", "/v1/notes"],
  createNote: ["POST", "/v1/notes"],
  getNote: ["GET", "/v1/notes/{note_id}"],
  updateNote: ["PATCH", "/v1/notes/{note_id}"],
  getLinkedNotes: ["GET", "/v1/notes/{note_id}/linked"],
  getOntology: ["GET", "/v1/ontology"],
  proposeEdgeType: ["POST", "/v1/ontology/edge-types"],
  proposeNodeType: ["POST", "/v1/ontology/node-types"],
  withdrawType: ["DELETE", "/v1/ontology/{types}/{name}"],
  describeType: ["PATCH", "/v1/ontology/{types}/{name}"],
  decideType: ["POST", "/v1/ontology/{types}/{name}/{decision}"],
  getOperations: ["GET", "/v1/operations"],
  listCells: ["GET", "/v1/operations/cells"],
  listCosts: ["GET", "/v1/operations/costs"],
  listDeadLetters: ["GET", "/v1/operations/dead-letters"],
  dropDeadLetter: ["DELETE", "/v1/operations/dead-letters/{message_id}"],
  retryDeadLetter: ["POST", "/v1/operations/dead-letters/{message_id}/retry"],
  listAllJobs: ["GET", "/v1/operations/jobs"],
  retryAnyJob: ["POST", "/v1/operations/jobs/{job_id}/retry"],
  listEmbeddingModels: ["GET", "/v1/operations/models"],
  forgetPassage: ["DELETE", "/v1/passages/{passage_id}"],
  pastWork: ["POST", "/v1/past-work"],
  listPlans: ["GET", "/v1/plans"],
  addPlan: ["POST", "/v1/plans"],
  getPlan: ["GET", "/v1/plans/{plan_id}"],
  changePlan: ["PATCH", "/v1/plans/{plan_id}"],
  getAppPolicy: ["GET", "/v1/policy"],
  setAppPolicy: ["PUT", "/v1/policy"],
  readProfile: ["GET", "/v1/profile"],
  readBlock: ["GET", "/v1/profile/{name}"],
  writeBlock: ["PUT", "/v1/profile/{name}"],
  forgetBlock: ["DELETE", "/v1/profile/{name}"],
  changeBlock: ["PATCH", "/v1/profile/{name}"],
  demoteBlock: ["POST", "/v1/profile/{name}/demote"],
  blockHistory: ["GET", "/v1/profile/{name}/history"],
  promoteBlock: ["POST", "/v1/profile/{name}/promote"],
  listProposals: ["GET", "/v1/proposals"],
  acceptProposal: ["POST", "/v1/proposals/{proposal_id}/accept"],
  rejectProposal: ["POST", "/v1/proposals/{proposal_id}/reject"],
  reopenProposal: ["POST", "/v1/proposals/{proposal_id}/reopen"],
  recall: ["POST", "/v1/recall"],
  giveFeedback: ["POST", "/v1/recalls/{recall_id}/feedback"],
  listReflections: ["GET", "/v1/reflections"],
  createResponse: ["POST", "/v1/responses"],
  listReviews: ["GET", "/v1/reviews"],
  getReview: ["GET", "/v1/reviews/{review_id}"],
  editReview: ["PATCH", "/v1/reviews/{review_id}"],
  acceptReview: ["POST", "/v1/reviews/{review_id}/accept"],
  rejectReview: ["POST", "/v1/reviews/{review_id}/reject"],
  reopenReview: ["POST", "/v1/reviews/{review_id}/reopen"],
  listSchedules: ["GET", "/v1/schedules"],
  setSchedule: ["PUT", "/v1/schedules/{kind}"],
  sleep: ["POST", "/v1/sleep"],
  previewSleep: ["POST", "/v1/sleep/preview"],
  readSleepReport: ["GET", "/v1/sleep/report"],
  listSleepRuns: ["GET", "/v1/sleep/runs"],
  getSleepRun: ["GET", "/v1/sleep/runs/{run_id}"],
  undoSleepRun: ["POST", "/v1/sleep/runs/{run_id}/undo"],
  listSleepTasks: ["GET", "/v1/sleep/tasks"],
  switchSleepTask: ["PUT", "/v1/sleep/tasks/{task}"],
  openSource: ["GET", "/v1/sources/{source_id}"],
  forgetSource: ["DELETE", "/v1/sources/{source_id}"],
  listSummaries: ["GET", "/v1/summaries"],
  readTimeline: ["GET", "/v1/timeline"],
  countTimeline: ["GET", "/v1/timeline/counts"],
  readNews: ["GET", "/v1/timeline/news"],
  makeToken: ["POST", "/v1/token"],
  topOfMind: ["GET", "/v1/top-of-mind"],
  recordTurn: ["POST", "/v1/turns"],
  getUsefulness: ["GET", "/v1/usefulness"],
  listUsers: ["GET", "/v1/users"],
  addUser: ["POST", "/v1/users"],
  forgetUser: ["DELETE", "/v1/users/{user}"],
  anonymiseUser: ["POST", "/v1/users/{user}/anonymise"],
  getUserErasure: ["GET", "/v1/users/{user}/erasure"],
  previewAnonymising: ["GET", "/v1/users/{user}/figures"],
  verifyClaim: ["POST", "/v1/verify"],
  countWaiting: ["GET", "/v1/waiting"],
};

export class MemsvcError extends Error {
  constructor(code, message, { hint = "", status = 0, ...details } = {}) {
    super(`${code}: ${message}`);
    Object.assign(this, { name: "MemsvcError", code, hint, status, details });
  }
}

/** Operations that are done once for each Idempotency-Key. */
const ONCE = new Set([
  "addMessages", "createNote", "addNode", "writeChanges", "addUser", "makeKey", "locateNode", "annotateFact",
  "addDocuments",
]);

/** Operations besides GET that only read, or that change nothing more when repeated. */
const AGAIN = new Set([
  "recall", "buildContext", "answerQuestion", "askCypher", "addFact", "createLink", "giveFeedback",
]);

/** Codes of a busy service after which the call may have been done. The second comes from a proxy. */
const UNKNOWN = new Set(["outcome_unknown", "http_503"]);

/** Node's codes for a failed connection: nothing was sent. */
const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"]);

export class Memsvc {
  #url;
  #headers;
  #tries;
  #timeoutMs;
  #longestMs;

  constructor(url, { key, user, headers = {}, tries = 4, timeoutMs = 30_000, longestMs = 10_000 } = {}) {
    this.#url = url.replace(/\/$/, "");
    const own = { ...(key && { Authorization: `Bearer ${key}` }), ...(user && { "X-Memsvc-User": latin1(user) }) };
    this.#headers = { ...headers, ...own };
    this.#tries = tries;
    this.#timeoutMs = timeoutMs;
    this.#longestMs = longestMs;
  }

  async call(operation, { path = {}, query = {}, header = {}, body } = {}) {
    const [method, template] = OPERATIONS[operation];
    const address = new URL(this.#url + template.replace(/\{(\w+)[^}]*\}/g, (_, name) => encodeURIComponent(path[name])));
    for (const [name, given] of Object.entries(query))
      for (const value of [given].flat()) if (value != null) address.searchParams.append(name, value);
    const headers = { ...this.#headers, ...header };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    // With this key the request can be repeated if it may not have arrived.
    if (ONCE.has(operation)) headers["Idempotency-Key"] ??= crypto.randomUUID();
    const known = ONCE.has(operation) || body?.message_id != null; // a hook's message has its own id
    const repeatable = method === "GET" || known || AGAIN.has(operation) || query.preview === true;
    for (let tried = 1; ; tried++) {
      let answer, text;
      try {
        const signal = AbortSignal.timeout(this.#timeoutMs);
        answer = await fetch(address, { method, headers, body: body && JSON.stringify(body), signal });
        text = await answer.text();
      } catch (error) {
        answer = undefined;
        const harmless = repeatable || NOT_SENT.has(error.cause?.code);
        const hint = harmless ? "" : "It may have been done. Check before you repeat it.";
        if (!harmless || tried >= this.#tries) throw new MemsvcError("unreachable", error.message, { hint });
      }
      if (answer?.ok) return answer.headers.get("Content-Type")?.includes("json") ? read(text) : text;
      const wished = Number(answer?.headers.get("Retry-After")) * 1000 || 0;
      const error = answer && problem(answer.status, text);
      const safe = repeatable || !UNKNOWN.has(error?.code);
      const again = safe && tried < this.#tries && wished <= this.#longestMs;
      if (error && !([429, 503].includes(error.status) && again)) throw error;
      const pause = Math.random() * Math.min(this.#longestMs, 200 * 2 ** (tried - 1));
      await new Promise((next) => setTimeout(next, Math.max(wished, pause)));
    }
  }
}

for (const operation of Object.keys(OPERATIONS))
  Memsvc.prototype[operation] = function (input) {
    return this.call(operation, input);
  };

/** Headers carry bytes, so names are sent as UTF-8. */
function latin1(text) {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MemsvcError("answer_invalid", error.message, { hint: "Check memsvc's address." });
  }
}

function problem(status, text) {
  try {
    const { code, detail, hint, ...details } = JSON.parse(text);
    if (code) return new MemsvcError(code, detail, { ...details, hint, status });
  } catch {
    // not from memsvc but from a proxy
  }
  return new MemsvcError(`http_${status}`, text.slice(0, 500), { status });
}
