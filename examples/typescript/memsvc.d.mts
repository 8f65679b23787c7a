// Written by 'make client' from the OpenAPI document.
export interface Options {
  /** A key or a token. */
  key?: string;
  /** Id or external id of the user to act for. May be left out if the key belongs to one user. */
  user?: string;
  /** Further headers of each call. */
  headers?: Record<string, string>;
  /** The most tries of a call. Default: 4. */
  tries?: number;
  /** The longest wait for an answer, in milliseconds, for each try. Default: 30,000. */
  timeoutMs?: number;
  /** The longest wait before the next try, in milliseconds. If the service asks for more, the call fails. Default: 10,000. */
  longestMs?: number;
}
/** A call was refused, or the service did not answer. */
export class MemsvcError extends Error {
  constructor(code: string, message: string, more?: { hint?: string; status?: number } & Record<string, unknown>);
  /** Stable: match on it. */
  code: string;
  hint: string;
  /** The HTTP status of the answer; 0: there was no answer. */
  status: number;
  details: Record<string, unknown>;
}
export type Act = { audit_id: string; recorded_at: string; action: string; subject: string; user_id: string | null; door: "api" | "page" | "cli" | null; key_id: string | null; login: string; whole_service: boolean; details: Record<string, unknown> };
export type AddedFeed = { feed_id: string; kind: "folder" | "url" | "ics" | "imap" | "push"; name: string; identifier: string; rule: string | null; state: "active" | "paused" | "failed"; failures: number; last_error: string | null; last_run: string | null; next_run: string | null; run_id: string | null; by_operator: boolean; path: string | null; url: string | null; imap: Mailbox | null; takes: "documents" | "memory" | null; as: string | null; me: Array<string>; not_me: boolean; since: string | null; title: string; created_at: string; secret: string | null };
export type AgendaItem = { id: string; kind: "message" | "fact" | "task" | "event" | "yearly"; memory_id: string; what: string; begins: string; ends: string; timed: boolean; past: boolean; says?: string; state?: string; speaker?: string; said_at?: string | null; conversation?: string; remark?: string };
export type AgendaPage = { items: Array<AgendaItem>; next_cursor: string | null; truncated: boolean };
export type AliasOperation = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; node_id: string | number; alias: string; confidence?: number; op: "alias" };
export type AliasesIn = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; aliases: Array<string>; confidence?: number };
export type AliasesOut = { evidence?: Array<Evidence>; aliases: Array<string>; ended_at?: string | null };
export type Ambiguous = { name: string; nodes: Array<string> };
export type AmbiguousName = { name: string; meanings: Array<Meaning> };
export type AnalysisAsked = { job_id: string; run: AnalysisRun };
export type AnalysisIn = { seeds?: Array<string> };
export type AnalysisResult = { place: number; what: string; score: number; nodes: Array<analysis_runs_ShownNode>; facts: Array<string>; sentences: Array<string>; passages: Array<string>; figures: Record<string, unknown> };
export type AnalysisRun = { run_id: string; kind: "hubs" | "communities" | "orphans" | "anomalies" | "habits" | "pagerank"; seeds: Array<string>; state: "open" | "done" | "failed"; found: number; figures: Record<string, unknown>; seconds: number; error_code: string | null; started_at: string; finished_at: string | null };
export type AnnotationIn = { stance: "validated" | "disputed"; reason: string; version_id?: string | null };
export type Anonymised = { receipt: Receipt; added: number };
export type AnswerIn = { me?: Array<string>; not_me?: boolean };
export type AnswerSource = { id: string; kind: string; memory_id: string; text: string; speaker: string; said: string | null; conversation: string; validity: string };
export type AnthropicMessage = { content: Array<Record<string, unknown>> } & Record<string, unknown>;
export type AnthropicMessageIn = { messages: Array<AnthropicTurnIn>; model?: string | null; system?: string | Array<Record<string, unknown>> | null; stream?: boolean | null } & Record<string, unknown>;
export type AnthropicTurnIn = { role: string; content: string | Array<Record<string, unknown>> } & Record<string, unknown>;
export type Append = { text: string; op: "append" };
export type Archive = { forgetting: boolean; chosen: boolean; messages: number; facts: number; cards: number; turns: number; last_at: string | null };
export type Archived = { memory_id: string; kind: "message" | "fact" | "card" | "turn"; text: string; speaker: string; said_at: string; archived_at: string; run_id: string | null };
export type Asked = { extractor: string; jobs: Array<string> };
export type AskedNode = { node_id: string; type: string | null; label: string | null; description: string; importance: number | null; holds: boolean; asked: string };
export type Backlog = { pending: number; running: number; retrying: number; failed: number; dead_letters: number; workers: number; oldest_pending_seconds: number; embedding_lag_seconds: number; extraction_lag_seconds: number; unfolded_deltas: number };
export type Batch = { messages: Array<MessageIn> };
export type Block = { id: string; block_id: string; name: string; kind: "core" | "working" | "archival"; text: string; version: number; tokens: number; limit_tokens: number; node_id: string | null; node: string | null; conversation_id: string | null; expires_at: string | null; evidence: Array<Support>; asserted_by: string; recorded_from: string; recorded_to: string | null };
export type BlockIn = { conversation?: string | null; node?: string | null; expected_version?: number | null; text: string; kind?: "core" | "working" | "archival" | null; evidence?: Array<string>; limit_tokens?: number | null; hours?: number };
export type Budget = { whose: "app" | "each" | "user"; user_id: string | null; user_name: string | null; limits: Limits; used: access_budgets_Used; resets_at: string };
export type BudgetIn = { whose?: "app" | "each" | "user"; user?: string | null; messages_per_day?: number | null; bytes_per_day?: number | null; tokens_per_day?: number | null; cost_per_day?: number | null };
export type CallIn = { tool: string; arguments?: Record<string, unknown> | string; result?: string | null; ok?: boolean; exit_code?: number | null; ms?: number | null; document?: string | null; sha256?: string | null; size?: number | null; number?: number | null; id?: string | null };
export type CausedVersion = { version: number; cause: "inbound" | "external"; sha256: string; bytes: number; chunked: boolean; recorded_from: string; recorded_to: string | null; turn_id: string | null; conversation: string | null; id: string | null; agent: string | null; tool: string | null; number: number | null };
export type CellNamed = { name: string; weight: number };
export type Change = { change_id: string; recorded_at: string; results: Array<Result> };
export type ChangeIn = { conversation?: string | null; node?: string | null; expected_version?: number | null; change: Append | Replace | Set; evidence?: Array<string>; hours?: number };
export type ChatCompletion = { choices: Array<Record<string, unknown>> } & Record<string, unknown>;
export type ChatCompletionIn = { messages: Array<ChatMessageIn>; model?: string | null; stream?: boolean | null } & Record<string, unknown>;
export type ChatMessage = { role: "system" | "user" | "assistant"; content: string };
export type ChatMessageIn = { role: string; content?: string | Array<Record<string, unknown>> | null; name?: string | null } & Record<string, unknown>;
export type Chosen = { kind?: string | null; columns?: Record<string, string>; me?: Array<string>; not_me?: boolean; since?: string | null; title?: string };
export type ChunkPlace = { document_id: string; title: string; path: string; version: number; headings: Array<string>; origin: Record<string, unknown>; gone: boolean };
export type Claim = { text: string; sources: Array<string> };
export type ClaimEvidence = { id: string; memory_id: string; kind: "fact" | "message"; text: string; speaker?: string; said_at?: string | null; valid_from?: string | null; valid_to?: string | null; begin_untold?: boolean; end_untold?: boolean };
export type ClaimIn = { claim: string; as_of?: string | null; known_at?: string | null };
export type CloseOperation = { evidence?: Array<Evidence>; ended_at: string; edge_id?: string | null; node_id?: string | null; alias?: string | null; place?: boolean; op: "close" };
export type Component = { name: string; value: string | null };
export type Connected = { node_id: string; type: string | null; label: string | null; facts: number };
export type Context = { text: string; format: "text" | "markdown" | "json" | "messages"; messages: Array<ChatMessage>; tokens: number; budget_tokens: number; tokenizer: string; sections: Array<Section>; memories: Array<Memory>; left_out: number; relevant: boolean; ambiguous: Array<AmbiguousName>; seed: number | null; degraded: Array<"vector" | "order" | "reranker" | "words">; recall_id?: string | null; conversation_id?: string | null; confidence?: number | null };
export type ContextIn = { conversations?: Array<string>; not_conversations?: Array<string>; traces?: boolean; facts?: boolean; kinds?: Array<"message" | "trace" | "block" | "card" | "note" | "instruction" | "task" | "summary" | "concept" | "reflection" | "critique" | "plan" | "fact" | "chunk" | "turn">; speakers?: Array<string>; roles?: Array<"user" | "assistant" | "other" | "system" | "tool" | "thinking">; source_kinds?: Array<"conversation" | "document" | "block" | "graph">; types?: Array<string>; least_importance?: number | null; metadata?: Record<string, unknown> | null; least_score?: number | null; include_archived?: boolean; query: string; said_from?: string | null; said_to?: string | null; as_of?: string | null; asked_at?: string | null; known_at?: string | null; near?: NearIn | null; budget_tokens?: number; format?: "text" | "markdown" | "json" | "messages"; tokenizer?: string | null; memories?: boolean; limit?: number; preset?: string | null; mode?: "eager" | "balanced" | "deliberate"; fill?: boolean; why?: "none" | "short" | "full" | null; group_by?: "conversation" | "none"; neighbours?: boolean; conversation?: string | null; recent_turns?: number; profile?: boolean; core?: boolean; instructions?: Array<string> | null; salient?: number; chance?: boolean; seed?: number | null; elapsed?: boolean };
export type Contradiction = { facts: Array<ShownFact> };
export type Contradictions = { items: Array<Contradiction>; truncated: boolean };
export type Conversation = { conversation_id: string; identifier: string; title: string; status: string; messages: number; sessions: number; first_said_at: string | null; last_said_at: string | null; created_at: string; last_ingested_at: string | null; metadata: Record<string, unknown> };
export type CoreIn = { block?: string };
export type CorrectOperation = { evidence?: Array<Evidence>; version_id: string; content: Record<string, unknown>; op: "correct" };
export type Count = { outcome: "added" | "changed" | "ended" | "retracted" | "refused" | "unchanged"; type: string; facts: number };
export type Critique = { critique_id: string; version_id: string; question: string; answer: string; correction: string; source: string; lesson: string; state: "none" | "proposed" | "accepted" | "rejected"; instruction: string | null; asserted_by: string; recorded_from: string };
export type CritiqueIn = { question: string; correction: string; answer?: string; source?: string | null; lesson?: string; id?: string | null };
export type Cut = { memory: Memory; reason: "behind the limit" | "below the threshold" | "too like another" };
export type CypherAnswer = { columns: Array<string>; rows: Array<Array<unknown>>; truncated: boolean };
export type CypherIn = { query: string; parameters?: Record<string, unknown>; limit?: number };
export type DatabaseState = { bytes: number; connections: number; connections_max: number; oldest_transaction_seconds: number; xid_age: number; tables: Array<TableRows> };
export type DatedWords = { words: string; means: string; stop: number };
export type DeadLetter = { message_id: string; queue: string; actor: string | null; rejected_at: string; error: string | null };
export type Decided = { review: Review; change: Change | null };
export type DegreeBucket = { from: number; to: number; nodes: number };
export type DemotionIn = { conversation?: string | null; node?: string | null; expected_version?: number | null; kind?: "archival" | "working"; hours?: number };
export type Did = { task: string; kind: string; number: number };
export type Diff = { axis: "known" | "valid"; since: string; until: string; known_at: string | null; items: Array<Difference>; next_cursor: string | null };
export type Difference = { kind: "node" | "edge" | "alias" | "place" | "merge"; change: "added" | "ended" | "corrected" | "retracted" | "began" | "changed" | "passed"; at: string; subject: string; label: string | null; edge: Ends | null; before: Array<Said>; after: Array<Said>; between: Array<Said> };
export type Document = { document_id: string; identifier: string; title: string; path: string; format: string; version: number; chunks: number; pages: number | null; characters: number; bytes: number; sha256: string; gone: boolean; status: "pending" | "processing" | "completed" | "failed"; metadata: Record<string, unknown>; created_at: string; recorded_from: string };
export type DocumentChunk = { passage_id: string; text: string; headings: Array<string>; origin: Record<string, unknown> };
export type DocumentPreview = { title: string; format: string; chunks: number; pages: number | null; characters: number; written_at: string; odd: Record<string, number> };
export type DocumentVersion = { version: number; title: string; path: string; format: string; chunks: number; pages: number | null; characters: number; bytes: number; sha256: string; recorded_from: string; recorded_to: string | null };
export type EdgeOperation = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; type: string; fact: string; key?: string; data?: Record<string, unknown>; weight?: number; confidence?: number; from_node: string | number; to_node: string | number; op: "edge" };
export type EdgeType = { name: string; status: "core" | "proposed" | "approved" | "rejected" | "deprecated"; category: string; description: string; parent: string | null; reason: string; proposed_by: string | null; proposed_at: string | null; decided_by: string | null; decided_at: string | null; from_types: Array<string>; to_types: Array<string>; functional: boolean; facts: number };
export type EdgeTypeProposal = { name: string; description: string; parent?: string | null; category?: string | null; reason?: string; from_types?: Array<string> | null; to_types?: Array<string> | null; functional?: boolean; proposed_by?: string; approve?: boolean };
export type EditIn = { subject?: string | null; type?: string | null; object?: string | null; sentence?: string | null; since?: string | null; until?: string | null; data?: Record<string, unknown> | null };
export type End = { name: string; type: string; node_id?: string | null; named?: boolean; aliases?: Array<string>; relation?: string };
export type Ended = { id: string; fact: string; ended_at: string | null; now: Learnt | null };
export type Ends = { from_node: string; from_label: string | null; type: string; to_node: string; to_label: string | null };
export type Enrichment = { text: string; format: "text" | "markdown" | "json" | "messages"; messages: Array<ChatMessage>; tokens: number; ids: Array<string>; relevant: boolean; recall_id: string | null; degraded: Array<string>; stored: StoredMessage | null };
export type ErrorNow = { error_code: string; retrying: number; failed_last_hour: number; last_seconds: number | null };
export type EventPage = { items: Array<events_Event>; next_cursor: string };
export type Evidence = { passage_id: string; span?: [number, number] | null; confidence?: number };
export type Explanation = { words: Array<string>; names: Array<NamedNode>; times: Array<Record<string, unknown>>; weights: Record<string, number>; order: string; found: Record<string, number>; threshold: number | null; cut: Array<Cut> };
export type ExtractIn = { text?: string | null; messages?: Array<SaidIn>; conversation?: string | null; since?: string | null; extractor?: string | null };
export type FactIn = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; type: string; fact: string; key?: string; data?: Record<string, unknown>; weight?: number; confidence?: number; from_node: string; to_node: string };
export type FactPatch = { evidence?: Array<Evidence>; fact?: string; data?: Record<string, unknown>; weight?: number; confidence?: number; version_id?: string | null; ended_at?: string | null };
export type FactVersion = { asserted_by: string; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; version_id: string; fact: string; data: Record<string, unknown>; weight: number; confidence: number; contested: boolean; certainty: number; sources: Array<Quote>; sources_total: number };
export type FactsPage = { items: Array<ShownFact>; next_cursor: string | null; about: Array<AskedNode>; ambiguous: Array<Ambiguous> };
export type Failed = { run_id: string; task: string; error_code: string | null };
export type Feed = { feed_id: string; kind: "folder" | "url" | "ics" | "imap" | "push"; name: string; identifier: string; rule: string | null; state: "active" | "paused" | "failed"; failures: number; last_error: string | null; last_run: string | null; next_run: string | null; run_id: string | null; by_operator: boolean; path: string | null; url: string | null; imap: Mailbox | null; takes: "documents" | "memory" | null; as: string | null; me: Array<string>; not_me: boolean; since: string | null; title: string; created_at: string };
export type FeedIn = { kind: "folder" | "url" | "ics" | "imap" | "push"; rule?: string | null; name?: string; path?: string | null; url?: string | null; takes?: "documents" | "memory"; as?: string | null; me?: Array<string>; not_me?: boolean; since?: string | null; title?: string };
export type FeedRemoved = { feed: Feed };
export type FeedbackIn = { used?: Array<string>; irrelevant?: Array<string> };
export type FeedbackReceipt = { recall_id: string; used: Array<string>; irrelevant: Array<string>; changed: number; erased: Array<string> };
export type Figure = { month: string; what: string; kind: string; number: number };
export type ForgettingIn = { forgetting: boolean | null };
export type FoundNote = { note_id: string; version_id: string; title: string; text: string; kind: string; tags: Array<string>; importance: number; about: Array<string>; asserted_by: string; recorded_from: string; matched?: "name" | "text" | "words" | "meaning" | null };
export type FoundPage_memsvc_graph_notes_FoundNote_ = { items: Array<FoundNote>; next_cursor: string | null; degraded?: Array<"vector"> };
export type FoundPage_memsvc_graph_search_MatchedNode_ = { items: Array<MatchedNode>; next_cursor: string | null; degraded?: Array<"vector"> };
export type Graph = { nodes: Array<GraphNode>; edges: Array<GraphEdge>; truncated: boolean };
export type GraphEdge = { version_id: string; edge_id: string; from_node: string; type: string; to_node: string; fact: string; weight: number; confidence: number; valid_from: string | null; valid_to: string | null; begin_untold?: boolean; end_untold?: boolean };
export type GraphNode = { node_id: string; type: string | null; label: string | null; description: string; data: Record<string, unknown>; importance: number | null; hop: number };
export type GraphPage = { nodes: Array<GraphNode>; edges: Array<GraphEdge>; next_cursor: string | null };
export type Health = { status: "ok" | "unavailable" | "stopping"; version: string; database: "ok" | "unreachable" | "overloaded"; schema: "current" | "outdated" | "unknown"; revision: string | null; extensions: Record<string, string> };
export type HookMessageIn = { conversation: string; text: string; session?: string; speaker?: string; message_id?: string | null; said_at?: string | null; metadata?: Record<string, unknown>; forget?: "conversation" | "keep" | null; idle_hours?: number; store?: boolean; budget_tokens?: number; mode?: "eager" | "balanced" | "deliberate"; format?: "text" | "markdown" | "json" | "messages"; asked_at?: string | null; recent_turns?: number; limit?: number; why?: "none" | "short" | "full"; salient?: number; chance?: boolean };
export type HookResponseIn = { conversation: string; text: string; session?: string; speaker?: string; message_id?: string | null; said_at?: string | null; metadata?: Record<string, unknown>; forget?: "conversation" | "keep" | null; idle_hours?: number };
export type Ingest = { ingest_id: string; feed_id: string | null; state: "pending" | "running" | "completed" | "failed" | "cancelled"; dry_run: boolean; choices: Chosen; job_id: string | null; error_code: string | null; created_at: string; started_at: string | null; finished_at: string | null; files: number; done: number; refused: number; owner_required: number; messages: number; stored: number; created: number; existing: number; erased: number; paused: number; differs: number };
export type IngestEnded = { ingest: Ingest; deleted: boolean };
export type IngestFile = { number: number; part: number; name: string; bytes: number; url: string | null; outcome: "stored" | "previewed" | "refused" | "passed_over" | "owner_required" | null; kind: string | null; code: string | null; message: string | null; hint: string | null; stored: number; counts: Record<string, number>; preview: sources_previewing_Preview | null; document: StoredDocument | null; document_preview: DocumentPreview | null; is_kept: boolean };
export type IngestShown = { ingest_id: string; feed_id: string | null; state: "pending" | "running" | "completed" | "failed" | "cancelled"; dry_run: boolean; choices: Chosen; job_id: string | null; error_code: string | null; created_at: string; started_at: string | null; finished_at: string | null; files: number; done: number; refused: number; owner_required: number; messages: number; stored: number; created: number; existing: number; erased: number; paused: number; differs: number; items: Array<IngestFile> };
export type Item = { id: string; kind: "message" | "trace" | "block" | "card" | "note" | "instruction" | "task" | "summary" | "concept" | "reflection" | "critique" | "plan" | "fact" | "chunk" | "turn" | "node" | "neighbour"; memory_id: string; text: string; why: string; brief?: string; remark?: string; name?: string; speaker?: string; role?: string; caption?: string | null; said_at?: string | null; conversation_id?: string | null; conversation?: string; session?: string; ordinal?: number; part?: number; validity?: string; count?: number; last_said?: string | null; stale?: boolean; rule?: boolean; rule_since?: string; sources?: Array<string>; dated?: Array<DatedWords>; tokens?: number };
export type Job = { job_id: string; kind: string; subject_id: string; state: "pending" | "done" | "failed" | "cancelled"; attempts: number; restarts: number; error_code: string | null; error: string | null; created_at: string; run_after: string; started_at: string | null; finished_at: string | null };
export type JobOfUser = { job_id: string; kind: string; subject_id: string; state: "pending" | "done" | "failed" | "cancelled"; attempts: number; restarts: number; error_code: string | null; error: string | null; created_at: string; run_after: string; started_at: string | null; finished_at: string | null; user_id: string };
export type Key = { key_id: string; user_id: string | null; scopes: Array<string>; label: string; created_at: string; expires_at: string | null; revoked_at: string | null; requests_per_minute: number | null; messages_per_day: number | null; messages_today: number | null };
export type KeyDay = { key_id: string; day: string; requests: number; last_at: string };
export type KeyIn = { scopes?: Array<"read" | "write" | "forget" | "enroll" | "admin">; user?: string | null; label?: string; expires_in?: number | null; requests_per_minute?: number | null; messages_per_day?: number | null };
export type KindNow = { queue: string; kind: string; waiting: number; running: number; retrying: number; failed: number; dead: number; done_last_minute: number; failed_last_hour: number; oldest_seconds: number | null };
export type Known = { name: string; help: string; order: number; on: boolean; why_off: string | null; of_node: boolean };
export type Learnt = { id: string; fact: string };
export type Left = { what: string; code: string; change_id: string | null };
export type LessonIn = { text?: string | null };
export type Limits = { messages_per_day?: number | null; bytes_per_day?: number | null; tokens_per_day?: number | null; cost_per_day?: string | null };
export type LimitsIn = { requests_per_minute?: number | null; messages_per_day?: number | null };
export type Link = { link_id: string; version_id: string; from_node: string; relation: "extends" | "contradicts" | "supports" | "example_of" | "part_of" | "relates_to" | "answers" | "caused_by" | "temporal"; to_node: string; strength: number; fact: string };
export type LinkEnd = { link_id: string; evidence?: Array<Evidence> };
export type LinkEnded = { link_id: string; ended: boolean };
export type LinkIn = { from_node: string; to_node: string; relation: "extends" | "contradicts" | "supports" | "example_of" | "part_of" | "relates_to" | "answers" | "caused_by" | "temporal"; strength?: number; reason?: string; evidence?: Array<Evidence> };
export type LinkedNote = { note_id: string; title: string; text: string; kind: string; tags: Array<string>; distance: number; relations: Array<"extends" | "contradicts" | "supports" | "example_of" | "part_of" | "relates_to" | "answers" | "caused_by" | "temporal">; path: Array<string>; strength: number };
export type Location = { asserted_by: string; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; canonical_id: string; node_id: string; location_id: string; latitude: number; longitude: number; radius_m: number };
export type Locations = { items: Array<Location> };
export type Looked = { task: string; examined: number; would: number };
export type Mailbox = { host: string; username: string; port?: number; mailbox?: string; security?: "tls" | "starttls" | "none" };
export type MarkIn = { pinned?: boolean | null; importance?: number | null };
export type MarkedMemory = { memory_id: string; kind: string; pinned: boolean; importance: number | null };
export type MatchedNode = { node_id: string; type: string | null; label: string | null; description: string; importance: number | null; holds: boolean; name: string; match: "exact" | "prefix" | "word" | "part" | null; matched: "name" | "words" | "meaning"; first_seen: string | null; last_seen: string | null };
export type Me = { user: User; node_id: string; label: string; aliases: Array<string>; scopes: Array<string>; administers: boolean };
export type Meaning = { node_id: string; type: string; label: string; evidence: Array<string> };
export type Memory = { kind?: "message" | "trace" | "block" | "card" | "note" | "instruction" | "task" | "summary" | "concept" | "reflection" | "critique" | "plan" | "fact" | "chunk" | "turn"; memory_id: string; passage_id: string | null; block_id?: string | null; node_id?: string | null; node_type?: string | null; conversation_id: string | null; conversation: string; session: string; ordinal: number; part: number; message_id: string | null; speaker: string; role: string; text: string; caption: string | null; said_at: string; recorded_at: string; score: number; arms: Record<string, unknown>; factors?: Record<string, number>; path?: Array<string>; matched: Array<string>; why: string; remark?: string; count?: number; last_said?: string | null; repeats?: Array<string>; stale?: boolean; fact?: RecalledFact | null; document?: ChunkPlace | null };
export type MemoryAnswer = { answer: string; found: boolean; claims: Array<Claim>; sources: Array<AnswerSource>; by: "model" | "quotes"; degraded: Array<string>; recall_id: string | null; confidence: number | null };
export type MemoryIn = { conversation?: string; text?: string; caption?: string | null; speaker?: string; role?: "user" | "assistant" | "other" | "system" | "tool" | "thinking"; session?: string; ordinal?: number | null; id?: string | null; said_at?: string | null; metadata?: Record<string, unknown> };
export type MergeIn = { evidence?: Array<Evidence>; into: string; reason?: string; confidence?: number };
export type MergeOperation = { evidence?: Array<Evidence>; node_id: string; canonical_id: string; reason?: string; confidence?: number; op: "merge" };
export type Merged = { label: string; canonical_label: string; node_id: string; canonical_id: string; run_id: string };
export type Message = { passage_id: string; message_id: string | null; session: string; ordinal: number; speaker: string; role: string; text: string; caption: string | null; said_at: string; recorded_at: string; parts: number; metadata: Record<string, unknown> };
export type MessageIn = { conversation: string; text?: string; caption?: string | null; speaker?: string; role?: "user" | "assistant" | "other" | "system" | "tool" | "thinking"; session?: string; ordinal?: number | null; id?: string | null; said_at?: string | null; metadata?: Record<string, unknown> };
export type ModelList = { data: Array<Record<string, unknown>> } & Record<string, unknown>;
export type ModelProgress = { model_id: number; name: string; dimensions: number; state: "building" | "active" | "leaving" | "retired"; paused: boolean; embedded: number; lacking: number };
export type ModelResponse = { output: Array<Record<string, unknown>> } & Record<string, unknown>;
export type Models = { configured: string | null; models: Array<ModelProgress> };
export type NamedNode = { name: string; node_id: string; label: string; similarity: number };
export type Near = { node_id: string; label: string | null; type: string | null; location_id: string; stored_id: string; latitude: number; longitude: number; radius_m: number; metres: number; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null };
export type NearIn = { lat: number; lon: number; radius_m: number };
export type Nearby = { items: Array<Near>; truncated: boolean };
export type NewKey = { secret: string; key: Key };
export type NewMessages = { source_id: string; title: string; count: number; memory_id: string };
export type NewNode = { name: string; type: string; node_id: string | null; named: boolean; aliases: Array<string> };
export type NodeIn = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; type: string; label: string; description?: string; data?: Record<string, unknown>; importance?: number; node_id?: string | null; aliases?: Array<string> };
export type NodeOperation = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; type: string; label: string; description?: string; data?: Record<string, unknown>; importance?: number; node_id?: string | null; make?: boolean; op: "node" };
export type NodePatch = { evidence?: Array<Evidence>; type?: string; label?: string; description?: string; data?: Record<string, unknown>; importance?: number; version_id?: string | null };
export type NodeType = { name: string; status: "core" | "proposed" | "approved" | "rejected" | "deprecated"; category: string; description: string; parent: string | null; reason: string; proposed_by: string | null; proposed_at: string | null; decided_by: string | null; decided_at: string | null; nodes: number };
export type NodeTypeProposal = { name: string; description: string; parent?: string | null; category?: string | null; reason?: string; proposed_by?: string; approve?: boolean };
export type Note = { note_id: string; version_id: string; title: string; text: string; kind: string; tags: Array<string>; importance: number; about: Array<string>; asserted_by: string; recorded_from: string };
export type NoteChange = { title?: string | null; text?: string | null; kind?: "fact" | "preference" | "decision" | "insight" | "question" | "concept" | null; tags?: Array<string> | null; importance?: number | null; evidence?: Array<Evidence> };
export type NoteIn = { title: string; text?: string; kind?: "fact" | "preference" | "decision" | "insight" | "question" | "concept"; tags?: Array<string>; about?: Array<string>; evidence?: Array<Evidence>; importance?: number };
export type Ontology = { node_types: Array<NodeType>; edge_types: Array<EdgeType> };
export type OpenedMemory = { kind: "message" | "chunk" | "fact" | "node" | "block"; memory_id: string; text: string; message?: Message | null; source?: OpenedSource | null; supports?: Array<SupportedFact>; fact?: ShownEdge | null; node?: graph_shown_ShownNode | null; block?: Block | null; document?: ChunkPlace | null; chunks?: Array<DocumentChunk> };
export type OpenedSource = { source_id: string; kind: string; identifier: string; title: string; status: string; metadata: Record<string, unknown>; around: string | null; messages: Array<Message> };
export type Operations = { version: string; python: string; revision: string | null; current: boolean; extensions: Record<string, string>; components: Array<Component>; backlog: Backlog; work: WorkNow; database: DatabaseState };
export type OperationsIn = { operations: Array<NodeOperation | EdgeOperation | AliasOperation | PlaceOperation | CloseOperation | RetractOperation | CorrectOperation | MergeOperation | UnmergeOperation> };
export type Page_memsvc_access_audit_Act_ = { items: Array<Act>; next_cursor: string | null };
export type Page_memsvc_access_audit_KeyDay_ = { items: Array<KeyDay>; next_cursor: string | null };
export type Page_memsvc_access_budgets_Budget_ = { items: Array<Budget>; next_cursor: string | null };
export type Page_memsvc_access_keys_Key_ = { items: Array<Key>; next_cursor: string | null };
export type Page_memsvc_access_users_User_ = { items: Array<User>; next_cursor: string | null };
export type Page_memsvc_analysis_runs_AnalysisResult_ = { items: Array<AnalysisResult>; next_cursor: string | null };
export type Page_memsvc_analysis_runs_AnalysisRun_ = { items: Array<AnalysisRun>; next_cursor: string | null };
export type Page_memsvc_api_controllers_operations_CellNamed_ = { items: Array<CellNamed>; next_cursor: string | null };
export type Page_memsvc_erasing_anonymising_Figure_ = { items: Array<Figure>; next_cursor: string | null };
export type Page_memsvc_erasing_memories_Receipt_ = { items: Array<Receipt>; next_cursor: string | null };
export type Page_memsvc_extract_asking_Progress_ = { items: Array<Progress>; next_cursor: string | null };
export type Page_memsvc_extract_rereading_Reread_ = { items: Array<Reread>; next_cursor: string | null };
export type Page_memsvc_extract_rereading_Rereading_ = { items: Array<Rereading>; next_cursor: string | null };
export type Page_memsvc_extract_review_Review_ = { items: Array<Review>; next_cursor: string | null };
export type Page_memsvc_feeds_feeds_Feed_ = { items: Array<Feed>; next_cursor: string | null };
export type Page_memsvc_graph_changes_RecordedChange_ = { items: Array<RecordedChange>; next_cursor: string | null };
export type Page_memsvc_graph_links_LinkedNote_ = { items: Array<LinkedNote>; next_cursor: string | null };
export type Page_memsvc_graph_read_Event_ = { items: Array<read_Event>; next_cursor: string | null };
export type Page_memsvc_graph_shown_ShownName_ = { items: Array<ShownName>; next_cursor: string | null };
export type Page_memsvc_identity_review_Pair_ = { items: Array<Pair>; next_cursor: string | null };
export type Page_memsvc_lessons_critiques_Critique_ = { items: Array<Critique>; next_cursor: string | null };
export type Page_memsvc_lessons_plans_Plan_ = { items: Array<Plan>; next_cursor: string | null };
export type Page_memsvc_lessons_reflections_Reflection_ = { items: Array<Reflection>; next_cursor: string | null };
export type Page_memsvc_llm_calls_Spending_ = { items: Array<Spending>; next_cursor: string | null };
export type Page_memsvc_profiles_blocks_Block_ = { items: Array<Block>; next_cursor: string | null };
export type Page_memsvc_queue_dead_DeadLetter_ = { items: Array<DeadLetter>; next_cursor: string | null };
export type Page_memsvc_queue_jobs_JobOfUser_ = { items: Array<JobOfUser>; next_cursor: string | null };
export type Page_memsvc_queue_jobs_Job_ = { items: Array<Job>; next_cursor: string | null };
export type Page_memsvc_queue_schedule_Schedule_ = { items: Array<Schedule>; next_cursor: string | null };
export type Page_memsvc_recall_timeline_TimelineEntry_ = { items: Array<TimelineEntry>; next_cursor: string | null };
export type Page_memsvc_sleep_archive_Archived_ = { items: Array<Archived>; next_cursor: string | null };
export type Page_memsvc_sleep_proposals_Proposed_ = { items: Array<Proposed>; next_cursor: string | null };
export type Page_memsvc_sleep_registry_Known_ = { items: Array<Known>; next_cursor: string | null };
export type Page_memsvc_sleep_runs_Run_ = { items: Array<Run>; next_cursor: string | null };
export type Page_memsvc_sources_document_reads_Document_ = { items: Array<Document>; next_cursor: string | null };
export type Page_memsvc_sources_ingests_Ingest_ = { items: Array<Ingest>; next_cursor: string | null };
export type Page_memsvc_sources_read_Conversation_ = { items: Array<Conversation>; next_cursor: string | null };
export type Page_memsvc_sources_read_Message_ = { items: Array<Message>; next_cursor: string | null };
export type Page_memsvc_summaries_stored_Summary_ = { items: Array<Summary>; next_cursor: string | null };
export type Page_memsvc_turns_history_CausedVersion_ = { items: Array<CausedVersion>; next_cursor: string | null };
export type Pair = { a: Side; b: Side; score: number; evidence: Record<string, number>; found_by: string; found_at: string; state: "open" | "merged" | "rejected" | "split"; decided_at: string | null; decided_by: string | null };
export type PastCall = { number: number; tool: string; told: string; ok: boolean; exit_code: number | null; ms: number | null; document_id: string | null };
export type PastDocument = { document_id: string; document: string; version: number | null; current_version: number | null; staleness: number | null; wrote: boolean };
export type PastTurn = { turn_id: string; conversation_id: string; conversation: string; id: string; project: string | null; agent: string; commit: string | null; ok: boolean | null; done: boolean; at: string; request: string; answer: string | null; calls: Array<PastCall>; documents: Array<PastDocument>; score: number; factors: Record<string, number> };
export type PastWork = { text: string; turns: Array<PastTurn>; degraded: Array<"vector" | "order" | "reranker" | "words">; relevant?: boolean };
export type PastWorkIn = { query: string; files?: Array<string>; conversation?: string | null; project?: string | null; root?: string | null; ignores_case?: boolean; within_project?: boolean; within_files?: boolean; agent?: string | null; tool?: string | null; ok?: boolean | null; limit?: number; budget?: number };
export type Path = { nodes: Array<GraphNode>; edges: Array<GraphEdge> };
export type Paths = { paths: Array<Path>; complete: boolean; truncated: boolean };
export type Pause = { paused: boolean; since: string | null; until: string | null };
export type PauseIn = { until?: string | null };
export type Paused = { jobs: number };
export type PlaceFields = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; latitude: number; longitude: number; radius_m?: number };
export type PlaceOperation = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; latitude: number; longitude: number; radius_m?: number; node_id: string | number; op: "place" };
export type Plan = { plan_id: string; version_id: string; task: string; steps: Array<Step>; state: "open" | "done" | "failed" | "abandoned"; outcome: string; asserted_by: string; recorded_from: string; revisions?: Array<Revision> };
export type PlanChange = { task?: string | null; steps?: Array<Step> | null; results?: Array<StepResult>; state?: "open" | "done" | "failed" | "abandoned" | null; outcome?: string | null; reason?: string };
export type PlanIn = { task: string; steps?: Array<string>; id?: string | null };
export type Policies = { service: Record<string, "keep" | "mask" | "refuse">; app: Record<string, "keep" | "mask" | "refuse">; own: Record<string, "keep" | "mask" | "refuse"> | null; applied: Record<string, "keep" | "mask" | "refuse"> };
export type PolicyIn = { kinds: Record<string, "keep" | "mask" | "refuse"> };
export type Previewed = { proposal: Proposal; turn: number; verdict: "new" | "known" | "changes" | "superseded" | "doubtful" | "refused"; reason: string };
export type Problem = { type: string; title: string; status: number; code: string; detail: string; hint: string; request_id?: string | null; row?: number | null; field?: string | null };
export type Profile = { core: Array<Block>; working: Array<Block>; working_truncated: boolean; archival: Array<Block>; core_tokens: number; core_limit_tokens: number };
export type Progress = { source_id: string; identifier: string; extractor: string; turns: number; left: number; again: number; facts: number; refused: number; asked: boolean; last_at: string | null; job_id: string | null; job_state: string | null; error_code: string | null };
export type PromotionIn = { conversation?: string | null; node?: string | null; expected_version?: number | null };
export type Proposal = { subject: End; type: string; object: End; sentence: string; quote: string; change?: "holds" | "ended" | "corrects"; since?: string | null; until?: string | null; confidence?: number; data?: Record<string, unknown> };
export type Proposed = { proposal_id: string; kind: "link" | "alias" | "split" | "core" | "outdated"; node_id: string | null; label: string | null; other_id: string | null; other_label: string | null; text: string | null; instead: string | null; block: string | null; passage_id: string | null; version_id: string | null; sources: Array<string>; score: number; evidence: Record<string, number>; found_at: string; state: "open" | "accepted" | "rejected" | "withdrawn"; decided_at: string | null; decided_by: string | null };
export type Pushed = { ingest_id: string | null; message: StoredMessage | null };
export type QuestionIn = { conversations?: Array<string>; not_conversations?: Array<string>; traces?: boolean; facts?: boolean; kinds?: Array<"message" | "trace" | "block" | "card" | "note" | "instruction" | "task" | "summary" | "concept" | "reflection" | "critique" | "plan" | "fact" | "chunk" | "turn">; speakers?: Array<string>; roles?: Array<"user" | "assistant" | "other" | "system" | "tool" | "thinking">; source_kinds?: Array<"conversation" | "document" | "block" | "graph">; types?: Array<string>; least_importance?: number | null; metadata?: Record<string, unknown> | null; least_score?: number | null; include_archived?: boolean; query: string; said_from?: string | null; said_to?: string | null; as_of?: string | null; asked_at?: string | null; known_at?: string | null; near?: NearIn | null; budget_tokens?: number; model?: boolean };
export type Quote = { passage_id: string; source_id: string; span: [number, number] | null; quote: string; stance: "supports" | "ends" | "validated" | "disputed"; confidence: number; asserted_by: string; recorded_from: string };
export type ReadDocument = { document: Document; versions: Array<DocumentVersion>; version: number; chunks: Array<DocumentChunk>; next_cursor: string | null };
export type RecallIn = { conversations?: Array<string>; not_conversations?: Array<string>; traces?: boolean; facts?: boolean; kinds?: Array<"message" | "trace" | "block" | "card" | "note" | "instruction" | "task" | "summary" | "concept" | "reflection" | "critique" | "plan" | "fact" | "chunk" | "turn">; speakers?: Array<string>; roles?: Array<"user" | "assistant" | "other" | "system" | "tool" | "thinking">; source_kinds?: Array<"conversation" | "document" | "block" | "graph">; types?: Array<string>; least_importance?: number | null; metadata?: Record<string, unknown> | null; least_score?: number | null; include_archived?: boolean; query: string; said_from?: string | null; said_to?: string | null; as_of?: string | null; asked_at?: string | null; known_at?: string | null; near?: NearIn | null; limit?: number; form?: "stemmed" | "simple"; mode?: "eager" | "balanced" | "deliberate"; cursor?: string | null; diversity?: number; preset?: string | null; weights?: Record<string, number>; rerank?: boolean; explain?: boolean };
export type Recalled = { recall_id?: string | null; memories: Array<Memory>; degraded: Array<"vector" | "order" | "reranker" | "words">; confidence?: number | null; relevant?: boolean; ambiguous?: Array<AmbiguousName>; next_cursor?: string | null; explanation?: Explanation | null };
export type RecalledFact = { version_id: string; edge_id: string; type: string; from_node: string; from_label: string; to_node: string; to_label: string; valid_from: string | null; valid_to: string | null; confidence: number; contested?: boolean; certainty?: number | null; times?: Times };
export type Receipt = { erasure_id: string; kind: string; subject_id: string; state: "pending" | "done"; counts: Record<string, number>; requested_by: string; created_at: string; finished_at: string | null; verified: boolean | null; leftovers: Record<string, number> };
export type Receipts = { messages: Array<StoredMessage> };
export type RecordedChange = { change_id: string; recorded_at: string; asserted_by: string; operations: Array<string>; undoes: string | null; undone_by: string | null };
export type Reflection = { node_id: string; version_id: string; kind: "habit" | "changed_mind" | "contradiction" | "open_loop" | "insight"; text: string; importance: number; at: string; sources: Array<string>; by: string };
export type Rehearsal = { extractor: string; turns: number; left: number; counts: Array<Count>; facts: Array<Reread>; next_cursor: string | null };
export type Replace = { old: string; new: string; op: "replace" };
export type Reread = { outcome: "added" | "changed" | "ended" | "retracted" | "refused" | "unchanged"; type: string; fact: string; reason: string; edge_id: string | null; passage_id: string | null; valid_from: string | null; valid_to: string | null };
export type Rereading = { rereading_id: string; extractor: string; state: "open" | "done" | "stopped" | "undoing" | "undone"; turns: number; left: number; counts: Array<Count>; not_undone: number; started_at: string; last_at: string | null; finished_at: string | null };
export type RereadingAsked = { rereading: Rereading | null; job_id: string | null };
export type ResponseIn = { input?: string | Array<Record<string, unknown>> | null; model?: string | null; instructions?: string | null; stream?: boolean | null } & Record<string, unknown>;
export type RestoreIn = { memory_ids: Array<string> };
export type Restored = { restored: number };
export type Result = { index: number; outcome: "written" | "known" | "superseded" | "closed" | "unchanged" | "erased"; node_id: string | null; edge_id: string | null; versions: Array<string> };
export type RetractIn = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null };
export type RetractOperation = { evidence?: Array<Evidence>; valid_from?: string | null; valid_to?: string | null; edge_id?: string | null; node_id?: string | null; alias?: string | null; place?: boolean; op: "retract" };
export type Review = { review_id: string; state: "doubtful" | "refused" | "accepted" | "edited" | "rejected"; reason: string; proposal: Proposal; passage_id: string; source_id: string; speaker: string; text: string; span: [number, number] | null; said_at: string; extractor: string; found_at: string; decided_at: string | null; decided_by: string | null };
export type Revision = { revision: number; task: string; steps: Array<Step>; state: "open" | "done" | "failed" | "abandoned"; outcome: string; reason: string; asserted_by: string; recorded_from: string };
export type Run = { run_id: string; task: string; state: "open" | "done" | "failed"; cause: "night" | "asked" | "messages" | "sitting" | "importance"; from_node: string | null; since: string | null; budget_s: number | null; budget_tokens: number | null; examined: number; applied: number; proposed: number; counts: Record<string, number>; seconds: number; model_calls: number; tokens_in: number; tokens_out: number; within_budget: boolean; error_code: string | null; started_at: string; finished_at: string | null; undone_at: string | null };
export type Said = { id: string; content: Record<string, unknown>; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; asserted_by: string };
export type SaidIn = { text: string; speaker?: string; role?: "user" | "assistant" | "other" | "system" | "tool" | "thinking"; said_at?: string | null; caption?: string };
export type SameNode = { merge_id: string; node_id: string; canonical_id: string; reason: string; confidence: number; asserted_by: string; recorded_from: string };
export type Schedule = { kind: string; at: string; weekdays: Array<"mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun"> | null; enabled: boolean; time_zone: string; next_at: string | null; last_at: string | null };
export type ScheduleIn = { at: string; weekdays?: Array<string | number> | null; enabled?: boolean };
export type ScopesIn = { scopes: Array<"read" | "write" | "forget" | "enroll" | "admin"> };
export type Searched = { recall_id?: string | null; memories: Array<Memory>; degraded: Array<"vector" | "order" | "reranker" | "words">; confidence?: number | null; relevant?: boolean; ambiguous?: Array<AmbiguousName>; next_cursor?: string | null; explanation?: Explanation | null; graph?: Graph | null };
export type Section = { name: "agenda" | "overview" | "profile" | "core" | "instructions" | "lessons" | "facts" | "memories" | "salient" | "recent"; items: Array<Item> };
export type SessionEndIn = { conversation: string; forget?: "conversation" | "keep" | null };
export type SessionEnded = { forgotten: Receipt | null };
export type Set = { text: string; op: "set" };
export type ShownChange = { change_id: string; recorded_at: string; asserted_by: string; operations: Array<string>; undoes: string | null; undone_by: string | null; items: Array<Touched>; next_cursor: string | null };
export type ShownEdge = { edge_id: string; type: string; key: string; from_node: string; from_label: string | null; to_node: string; to_label: string | null; stored_from: string; stored_to: string; versions: Array<FactVersion>; truncated: boolean };
export type ShownFact = { asserted_by: string; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; version_id: string; edge_id: string; from_node: string; type: string; to_node: string; key: string; fact: string; data: Record<string, unknown>; weight: number; confidence: number; contested: boolean; stored_from: string; stored_to: string; from_label: string | null; from_type: string | null; to_label: string | null; to_type: string | null; certainty: number; sources: Array<Quote>; sources_total: number; pinned: boolean };
export type ShownName = { asserted_by: string; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; canonical_id: string; node_id: string; alias_id: string; alias: string; normal_form: string; confidence: number; label: string | null; sources: Array<Quote>; sources_total: number };
export type ShownState = { asserted_by: string; valid_from: string | null; valid_to: string | null; recorded_from: string; recorded_to: string | null; canonical_id: string; node_id: string; version_id: string; type: string; label: string; description: string; data: Record<string, unknown>; importance: number; sources: Array<Quote>; sources_total: number };
export type Side = { node_id: string; canonical_id: string; type: string | null; names: Array<string>; facts: number; sources: Array<string> };
export type SleepAsked = { job_id: string; runs: Array<Run> };
export type SleepIn = { tasks?: Array<string>; from_node?: string | null; since?: string | null; budget_s?: number | null; budget_tokens?: number | null };
export type SleepPreview = { tasks: Array<Looked>; items: Array<Would>; complete: boolean };
export type SleepPreviewIn = { tasks?: Array<string>; from_node?: string | null; limit?: number };
export type SleepReport = { date: string; since: string | null; until: string | null; runs: Array<Run>; summarised: number; summaries: Array<Summarised>; merged: number; merges: Array<Merged>; learnt: number; facts: Array<Learnt>; ended: number; changes_of_mind: Array<Ended>; archived: number; other: Array<Did>; facts_to_review: number; duplicates_to_review: number; lessons_to_review: number; proposals_to_review: number; due: Array<AgendaItem>; failed: Array<Failed> };
export type Speaker = { speaker: string; role: string; messages: number };
export type Spending = { day: string; task: string; model: string; calls: number; answered: number; tokens_in: number; tokens_out: number; ms: number; cost: string | null };
export type Split = { node_id: string; other_id: string; unmerged: boolean; change_id: string; facts: number; names: number };
export type SplitIn = { sources: Array<string> };
export type Staleness = { document_id: string; document: string; version: number | null; versions: number; volatility: number; familiarity: number; last_change: CausedVersion | null; items: Array<Touch>; next_cursor: string | null };
export type Stats = { nodes: number; facts: number; names: number; merges: number; evidence: number; isolated: number; types: Record<string, number>; edge_types: Record<string, number>; most_connected: Array<Connected>; degrees: Array<DegreeBucket>; turns: number; tool_calls: number; documents: number; document_versions: number };
export type Step = { text: string; state?: "open" | "done" | "failed" | "skipped"; outcome?: string };
export type StepResult = { step: number; state?: "open" | "done" | "failed" | "skipped"; outcome?: string };
export type StoredDocument = { outcome: "created" | "changed" | "existing" | "moved" | "erased" | "paused"; document_id: string | null; version: number | null; added: number; kept: number; closed: number; job_id: string | null; odd?: Record<string, number> };
export type StoredMessage = { index: number; outcome: "created" | "existing" | "erased" | "paused"; conversation_id: string | null; passage_id: string | null; session: string; ordinal: number | null; said_at: string; zone_assumed: string | null; job_id: string | null; masked?: Record<string, number> };
export type StoredTurn = { outcome: "created" | "changed" | "existing" | "erased" | "paused"; turn_id: string | null; conversation_id: string | null; done: boolean; calls: number; versions: number; job_id: string | null; documents?: Array<TouchedDocument>; masked?: Record<string, number> };
export type Summarised = { passage_id: string; text: string };
export type Summary = { node_id: string; version_id: string; level: "conversation" | "day" | "week" | "month" | "year"; label: string; period_start: string; period_end: string; text: string; importance: number; messages: number; sources: Array<Array<string>>; by: string };
export type Support = { passage_id: string; lines: Array<number> };
export type SupportedFact = { version_id: string; edge_id: string; fact: string; stance: "supports" | "ends" | "validated" | "disputed" };
export type TableRows = { name: string; live: number; dead: number };
export type TextIn = { as?: string | null; me?: Array<string>; not_me?: boolean; since?: string | null; title?: string; map?: string | null; dry_run?: boolean; text: string; name?: string };
export type Ticket = { ticket: string; expires_in: number; expires_at: string };
export type TimelineCounts = { step: "day" | "week" | "month" | "year"; items: Array<TimelinePeriod>; truncated: boolean };
export type TimelineEntry = { kind: "message" | "document" | "event" | "began" | "ended" | "change"; at: string; since: string; count: number; title: string; text: string; speaker: string; memory_id: string | null; source_id: string | null; node_id: string | null; edge_id: string | null };
export type TimelineNews = { since: string; until: string; counts: Record<string, number>; conversations: Array<NewMessages> };
export type TimelinePeriod = { begins: string; counts: Record<string, number> };
export type Times = { since?: string; until?: string };
export type Token = { token: string; token_type: "Bearer"; expires_in: number; expires_at: string; user_id: string; scopes: Array<string> };
export type TopOfMind = { memories: Array<Memory> };
export type Touch = { turn_id: string; conversation: string; id: string; project: string | null; agent: string; at: string; version: number | null; current_version: number | null; staleness: number | null; wrote: boolean };
export type Touched = { kind: "node" | "edge" | "alias" | "place" | "merge"; id: string; subject: string; written: boolean; closed: boolean; content: Record<string, unknown>; asserted_by: string; valid_from: string | null; valid_to: string | null };
export type TouchedDocument = { number: number; document_id: string; version: number | null; fresh: boolean };
export type TurnIn = { conversation: string; id?: string | null; request?: string | null; calls?: Array<CallIn>; answer?: string | null; done?: boolean; ok?: boolean | null; project?: string | null; root?: string | null; ignores_case?: boolean; agent?: string; commit?: string | null; at?: string | null; ended_at?: string | null };
export type TypeChange = { description: string };
export type Undone = { run: Run; changes: number; other: number; left: Array<Left> };
export type UnmergeOperation = { evidence?: Array<Evidence>; node_id: string; op: "unmerge" };
export type UrlIn = { as?: string | null; me?: Array<string>; not_me?: boolean; since?: string | null; title?: string; map?: string | null; dry_run?: boolean; url: string };
export type Usefulness = { since: string; recalls: number; judged: number; answered: number; by_door_and_kind: Array<recall_usefulness_Used> };
export type User = { user_id: string; external_id: string; name: string; time_zone: string; language: string; created_at: string };
export type UserIn = { name: string; external_id?: string | null; aliases?: Array<string>; time_zone?: string; language?: string };
export type Verified = { claim: string; verdict: "supported" | "contradicted" | "unknown"; reason: string; supporting: Array<ClaimEvidence>; contradicting: Array<ClaimEvidence>; related: Array<ClaimEvidence>; degraded: Array<string> };
export type Waiting = { reviews: number; duplicates: number; contradictions: number; types: number; lessons: number; links: number; aliases: number; splits: number; core: number; outdated: number; total: number };
export type WishIn = { on: boolean };
export type WorkNow = { at: string; kinds: Array<KindNow>; workers: Array<WorkerNow>; errors: Array<ErrorNow> };
export type WorkerNow = { worker_id: string; silent_seconds: number; running: number };
export type Would = { task: string; action: string; one: string; other?: string; score?: number | null; reason: string };
export type access_budgets_Used = { messages: number; bytes: number; tokens: number; cost: string };
export type analysis_runs_ShownNode = { node_id: string; type: string | null; label: string | null };
export type api_controllers_erasures_Preview = { kind: string; counts: Record<string, number> };
export type events_Event = { event_id: string; kind: "passages.added" | "source.completed" | "memory.erased" | "graph.changed" | "memory.recalled" | "profile.changed" | "ingest.changed" | "sleep.finished"; subject_id: string; recorded_at: string; cursor: string };
export type extract_preview_Preview = { extractor: string; facts: Array<Previewed>; nodes: Array<NewNode> };
export type graph_shown_ShownNode = { node_id: string; type: string | null; label: string | null; description: string; importance: number | null; holds: boolean; asked: string; merged_into: string | null; first_seen: string | null; last_seen: string | null; data: Record<string, unknown>; pinned: boolean; same: Array<SameNode>; versions: Array<ShownState>; aliases: Array<ShownName>; facts: Array<ShownFact>; facts_cursor: string | null };
export type identity_review_Decision = { node_a: string; node_b: string; state: "open" | "merged" | "rejected" | "split"; canonical_id?: string | null; change_id?: string | null };
export type read_Event = { at: string; event: "written" | "closed"; kind: "node" | "edge" | "alias" | "place" | "merge"; id: string; subject: string; content: Record<string, unknown>; asserted_by: string; valid_from: string | null; valid_to: string | null; change_id: string | null; changed_by: string | null };
export type recall_usefulness_Used = { door: string; kind: string; given: number; used: number; irrelevant: number; seen: number; echoed: number; share_used: number | null; share_echoed: number | null };
export type sleep_proposals_Decision = { proposal_id: string; state: "open" | "accepted" | "rejected" | "withdrawn"; change_id?: string | null; block?: string | null; block_version?: number | null };
export type sources_previewing_Preview = { messages: number; conversations: number; speakers: Array<Speaker>; first_said_at: string | null; last_said_at: string | null; owner: Array<string>; must_ask: boolean; odd: Record<string, number> };
export class Memsvc {
  constructor(url: string, options?: Options);
  /** Chat with memory, as in Anthropic's API. */
  createAnthropicMessage(input: { header?: { "X-Memsvc-User"?: string | null; "X-Memsvc-Conversation"?: string; "X-Memsvc-Session"?: string; "X-Memsvc-Memory"?: "on" | "off"; "X-Memsvc-Agent"?: string; "X-Memsvc-Project"?: string | null; "Idempotency-Key"?: string | null; "X-Memsvc-Context"?: string | null; "Anthropic-Version"?: string; "Anthropic-Beta"?: string | null }; body: AnthropicMessageIn }): Promise<AnthropicMessage>;
  /** Read a context block. */
  readContext(input: { query: { "query": string; "budget_tokens"?: number; "mode"?: "eager" | "balanced" | "deliberate"; "asked_at"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Context>;
  /** Read the graph. */
  readGraph(input?: { query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<GraphPage>;
  /** Health. */
  getHealth(): Promise<Health>;
  /** Remember something. */
  addMemory(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: MemoryIn }): Promise<Receipts>;
  /** Metrics. */
  getMetrics(): Promise<unknown>;
  /** Search memories. */
  search(input: { query: { "q": string; "limit"?: number; "graph"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Searched>;
  /** List what falls into a span of time. */
  readAgenda(input: { query: { "from": string; "to": string; "asked_at"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<AgendaPage>;
  /** List names. */
  listAliases(input?: { query?: { "name"?: string | null; "node"?: string | null; "as_of"?: string | null; "known_at"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_graph_shown_ShownName_>;
  /** List analyses. */
  listAnalyses(input?: { query?: { "kind"?: "hubs" | "communities" | "orphans" | "anomalies" | "habits" | "pagerank" | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_analysis_runs_AnalysisRun_>;
  /** Get an analysis. */
  getAnalysis(input: { path: { "run_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<AnalysisRun>;
  /** List the results of an analysis. */
  listAnalysisResults(input: { path: { "run_id": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_analysis_runs_AnalysisResult_>;
  /** Start an analysis of the graph. */
  analyse(input: { path: { "kind": "hubs" | "communities" | "orphans" | "anomalies" | "habits" | "pagerank" }; header?: { "X-Memsvc-User"?: string | null }; body: AnalysisIn }): Promise<AnalysisAsked>;
  /** Answer a question from memory. */
  answerQuestion(input: { header?: { "X-Memsvc-User"?: string | null }; body: QuestionIn }): Promise<MemoryAnswer>;
  /** Get what forgetting has archived. */
  getArchive(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Archive>;
  /** Switch forgetting on or off. */
  switchForgetting(input: { header?: { "X-Memsvc-User"?: string | null }; body: ForgettingIn }): Promise<Archive>;
  /** List what forgetting has archived. */
  listArchived(input?: { query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sleep_archive_Archived_>;
  /** Restore archived memories. */
  restoreMemories(input: { header?: { "X-Memsvc-User"?: string | null }; body: RestoreIn }): Promise<Restored>;
  /** List the audit log. */
  listActs(input?: { query?: { "actor"?: string | null; "action"?: string | null; "user"?: string | null; "since"?: string | null; "until"?: string | null; "cursor"?: string | null; "limit"?: number } }): Promise<Page_memsvc_access_audit_Act_>;
  /** List budgets. */
  listBudgets(input?: { query?: { "user"?: string | null; "cursor"?: string | null; "limit"?: number } }): Promise<Page_memsvc_access_budgets_Budget_>;
  /** Set a budget. */
  setBudget(input: { body: BudgetIn }): Promise<unknown>;
  /** List changes. */
  listChanges(input?: { query?: { "before"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_graph_changes_RecordedChange_>;
  /** Change the graph in one batch. */
  writeChanges(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: OperationsIn }): Promise<Change>;
  /** Get a change. */
  describeChange(input: { path: { "change_id": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<ShownChange>;
  /** Undo a change. */
  undoChange(input: { path: { "change_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Change>;
  /** Chat with memory. */
  createChatCompletion(input: { header?: { "X-Memsvc-User"?: string | null; "X-Memsvc-Conversation"?: string; "X-Memsvc-Session"?: string; "X-Memsvc-Memory"?: "on" | "off"; "X-Memsvc-Agent"?: string; "X-Memsvc-Project"?: string | null; "Idempotency-Key"?: string | null; "X-Memsvc-Context"?: string | null }; body: ChatCompletionIn }): Promise<ChatCompletion>;
  /** Build a context block. */
  buildContext(input: { header?: { "X-Memsvc-User"?: string | null }; body: ContextIn }): Promise<Context>;
  /** List conversations. */
  listConversations(input?: { query?: { "identifier"?: string | null; "cursor"?: string | null; "after"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sources_read_Conversation_>;
  /** Forget a conversation. */
  forgetConversation(input: { path: { "conversation": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** List a conversation's messages. */
  listMessages(input: { path: { "conversation": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sources_read_Message_>;
  /** Correct an answer. */
  addCritique(input: { header?: { "X-Memsvc-User"?: string | null }; body: CritiqueIn }): Promise<Critique>;
  /** List documents. */
  listDocuments(input?: { query?: { "name"?: string | null; "format"?: string | null; "status"?: "pending" | "processing" | "completed" | "failed" | null; "gone"?: boolean | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sources_document_reads_Document_>;
  /** Store files. */
  addDocuments(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: TextIn | UrlIn }): Promise<Ingest>;
  /** Read a document. */
  getDocument(input: { path: { "document_id": string }; query?: { "version"?: number | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<ReadDocument>;
  /** How stale a document is for the turns that touched it. */
  documentStaleness(input: { path: { "document_id": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Staleness>;
  /** Versions of a document, with what made each. */
  documentVersions(input: { path: { "document_id": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_turns_history_CausedVersion_>;
  /** List possible duplicates. */
  listDuplicates(input?: { query?: { "status"?: "open" | "merged" | "rejected" | "split"; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_identity_review_Pair_>;
  /** Split a node. */
  splitNode(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: SplitIn }): Promise<Split>;
  /** Merge a pair of duplicates. */
  acceptDuplicate(input: { path: { "node_id": string; "other_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<identity_review_Decision>;
  /** Reject a pair of duplicates. */
  rejectDuplicate(input: { path: { "node_id": string; "other_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<identity_review_Decision>;
  /** Take back a decision on a pair. */
  reopenDuplicate(input: { path: { "node_id": string; "other_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<identity_review_Decision>;
  /** List erasures. */
  listErasures(input?: { query?: { "cursor"?: string | null; "after"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_erasing_memories_Receipt_>;
  /** Check an erasure. */
  getErasure(input: { path: { "erasure_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt>;
  /** List events. */
  listEvents(input?: { query?: { "cursor"?: string | null; "limit"?: number; "wait"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<EventPage>;
  /** Export everything. */
  exportUser(input?: { query?: { "markdown"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<unknown>;
  /** Extract facts from text. */
  extract(input: { query?: { "dry_run"?: boolean }; header?: { "X-Memsvc-User"?: string | null }; body: ExtractIn }): Promise<Asked | extract_preview_Preview | extract_preview_Preview>;
  /** List the progress of extraction. */
  listExtractions(input?: { query?: { "conversation"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_extract_asking_Progress_>;
  /** Pause extraction. */
  pauseExtraction(input?: { query?: { "conversation"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Paused>;
  /** List re-readings. */
  listRereadings(input?: { query?: { "cursor"?: string | null; "after"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_extract_rereading_Rereading_>;
  /** Read again with a new version of the extractor. */
  reread(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<RereadingAsked>;
  /** Show what a re-reading would change. */
  previewRereading(input?: { query?: { "messages"?: number; "cursor"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Rehearsal>;
  /** Get a re-reading. */
  getRereading(input: { path: { "rereading_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Rereading>;
  /** List what a re-reading made of facts. */
  listRereadFacts(input: { path: { "rereading_id": string }; query?: { "outcome"?: "added" | "changed" | "ended" | "retracted" | "refused" | "unchanged" | null; "type"?: string | null; "not_undone"?: boolean; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_extract_rereading_Reread_>;
  /** Stop a re-reading. */
  stopRereading(input: { path: { "rereading_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Rereading>;
  /** Undo a re-reading. */
  undoRereading(input: { path: { "rereading_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<RereadingAsked>;
  /** List facts about nodes. */
  listFacts(input: { query: { "about": Array<string>; "type"?: Array<string> | null; "as_of"?: string | null; "known_at"?: string | null; "side"?: "from" | "to" | "both"; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<FactsPage>;
  /** Assert a fact. */
  addFact(input: { header?: { "X-Memsvc-User"?: string | null }; body: FactIn }): Promise<Change>;
  /** List contradictions. */
  listContradictions(input?: { query?: { "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Contradictions>;
  /** Get a fact. */
  describeFact(input: { path: { "edge_id": string }; query?: { "known_at"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<ShownEdge>;
  /** Forget a fact. */
  forgetFact(input: { path: { "edge_id": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** Correct or end a fact. */
  correctFact(input: { path: { "edge_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: FactPatch }): Promise<Change>;
  /** Validate or dispute a fact. */
  annotateFact(input: { path: { "edge_id": string }; header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: AnnotationIn }): Promise<Change>;
  /** Retract a fact. */
  retractFact(input: { path: { "edge_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: RetractIn }): Promise<Change>;
  /** List feeds. */
  listFeeds(input?: { query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_feeds_feeds_Feed_>;
  /** Add a feed. */
  addFeed(input: { header?: { "X-Memsvc-User"?: string | null }; body: FeedIn }): Promise<AddedFeed>;
  /** Get a feed. */
  getFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Feed>;
  /** Change a feed. */
  changeFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: FeedIn }): Promise<Feed>;
  /** Remove a feed. */
  removeFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<FeedRemoved>;
  /** Pause a feed. */
  pauseFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Feed>;
  /** Push to a feed. */
  pushToFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-Timestamp"?: string; "X-Memsvc-Signature"?: string } }): Promise<Pushed>;
  /** Resume a feed. */
  resumeFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Feed>;
  /** Read a feed now. */
  runFeed(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Ingest>;
  /** List the runs of a feed. */
  listFeedRuns(input: { path: { "feed_id": string }; query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sources_ingests_Ingest_>;
  /** Make a new secret for a push. */
  renewFeedSecret(input: { path: { "feed_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<AddedFeed>;
  /** List what stayed of anonymised users. */
  listFigures(): Promise<Page_memsvc_erasing_anonymising_Figure_>;
  /** Read the whole graph. */
  pageGraph(input?: { query?: { "cursor"?: string | null; "limit"?: number; "type"?: Array<string> | null; "as_of"?: string | null; "known_at"?: string | null; "format"?: "json" | "graphml" | "mermaid" | "dot" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<GraphPage>;
  /** Read what a conversation told. */
  readConversationGraph(input: { query: { "conversation": string; "type"?: Array<string> | null; "limit"?: number; "as_of"?: string | null; "known_at"?: string | null; "format"?: "json" | "graphml" | "mermaid" | "dot" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Graph>;
  /** Ask the graph in Cypher. */
  askCypher(input: { header?: { "X-Memsvc-User"?: string | null }; body: CypherIn }): Promise<CypherAnswer>;
  /** Compare two moments. */
  diffGraph(input: { query: { "from": string; "to"?: string | null; "axis"?: "known" | "valid"; "known_at"?: string | null; "kind"?: Array<"node" | "edge" | "alias" | "place" | "merge"> | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Diff>;
  /** Find what is near some nodes. */
  walkNeighbourhood(input: { query: { "node": Array<string>; "hops"?: number; "type"?: Array<string> | null; "side"?: "from" | "to" | "both"; "fan_out"?: number; "limit"?: number; "as_of"?: string | null; "known_at"?: string | null; "format"?: "json" | "graphml" | "mermaid" | "dot" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Graph>;
  /** Find paths between two nodes. */
  findPaths(input: { query: { "from": string; "to": string; "max_hops"?: number; "type"?: Array<string> | null; "side"?: "from" | "to" | "both"; "limit"?: number; "as_of"?: string | null; "known_at"?: string | null; "format"?: "json" | "graphml" | "mermaid" | "dot" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Paths>;
  /** Count nodes and facts. */
  graphStats(input?: { query?: { "as_of"?: string | null; "known_at"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Stats>;
  /** Read a subgraph. */
  readSubgraph(input: { query: { "node": Array<string>; "hops"?: number; "type"?: Array<string> | null; "fan_out"?: number; "limit"?: number; "as_of"?: string | null; "known_at"?: string | null; "format"?: "json" | "graphml" | "mermaid" | "dot" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Graph>;
  /** Enrich a message before the model. */
  hookMessage(input: { header?: { "X-Memsvc-User"?: string | null }; body: HookMessageIn }): Promise<Enrichment>;
  /** Store an answer after the model. */
  hookResponse(input: { header?: { "X-Memsvc-User"?: string | null }; body: HookResponseIn }): Promise<StoredMessage>;
  /** End a session. */
  hookSessionEnd(input: { header?: { "X-Memsvc-User"?: string | null }; body: SessionEndIn }): Promise<SessionEnded>;
  /** List ingests. */
  listIngests(input?: { query?: { "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sources_ingests_Ingest_>;
  /** Get an ingest. */
  getIngest(input: { path: { "ingest_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<IngestShown>;
  /** Cancel or delete an ingest. */
  endIngest(input: { path: { "ingest_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<IngestEnded>;
  /** Continue an ingest. */
  continueIngest(input: { path: { "ingest_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: AnswerIn }): Promise<Ingest>;
  /** List jobs. */
  listJobs(input?: { query?: { "state"?: "pending" | "done" | "failed" | "cancelled" | null; "cursor"?: string | null; "after"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_queue_jobs_Job_>;
  /** Get a job. */
  getJob(input: { path: { "job_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Job>;
  /** Cancel a job. */
  cancelJob(input: { path: { "job_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Job>;
  /** Retry a job. */
  retryJob(input: { path: { "job_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Job>;
  /** List keys. */
  listKeys(input?: { query?: { "cursor"?: string | null; "limit"?: number } }): Promise<Page_memsvc_access_keys_Key_>;
  /** Make a key. */
  makeKey(input: { header?: { "Idempotency-Key"?: string | null }; body: KeyIn }): Promise<NewKey>;
  /** List the use of keys. */
  listKeyUse(input?: { query?: { "key"?: string | null; "days"?: number } }): Promise<Page_memsvc_access_audit_KeyDay_>;
  /** Revoke a key. */
  revokeKey(input: { path: { "key_id": string } }): Promise<unknown>;
  /** Limit a key. */
  limitKey(input: { path: { "key_id": string }; body: LimitsIn }): Promise<Key>;
  /** Set what a key may do. */
  setKeyScopes(input: { path: { "key_id": string }; body: ScopesIn }): Promise<Key>;
  /** List critiques and their lessons. */
  listLessons(input?: { query?: { "state"?: "none" | "proposed" | "accepted" | "rejected" | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_lessons_critiques_Critique_>;
  /** Read a critique. */
  getLesson(input: { path: { "critique_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Critique>;
  /** Make a lesson an instruction. */
  acceptLesson(input: { path: { "critique_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: LessonIn }): Promise<Critique>;
  /** Reject a lesson. */
  rejectLesson(input: { path: { "critique_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Critique>;
  /** Link two notes. */
  createLink(input: { header?: { "X-Memsvc-User"?: string | null }; body: LinkIn }): Promise<Link>;
  /** End a link. */
  closeLink(input: { header?: { "X-Memsvc-User"?: string | null }; body: LinkEnd }): Promise<LinkEnded>;
  /** Make a ticket for a socket. */
  makeTicket(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Ticket>;
  /** Get the current user. */
  getMe(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Me>;
  /** Get whether memory is paused. */
  getPause(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Pause>;
  /** Do not remember. */
  pauseMemory(input: { header?: { "X-Memsvc-User"?: string | null }; body: PauseIn }): Promise<Pause>;
  /** Remember again. */
  resumeMemory(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Pause>;
  /** Get what happens to secrets in text. */
  getPolicy(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Policies>;
  /** Have secrets masked or refused. */
  setPolicy(input: { header?: { "X-Memsvc-User"?: string | null }; body: PolicyIn }): Promise<Policies>;
  /** Open a memory. */
  openMemory(input: { path: { "memory_id": string }; query?: { "before"?: number; "after"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<OpenedMemory>;
  /** Pin a memory, or say how important it is. */
  markMemory(input: { path: { "memory_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: MarkIn }): Promise<MarkedMemory>;
  /** Promote a memory into core memory. */
  promoteMemory(input: { path: { "memory_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: CoreIn }): Promise<Block>;
  /** Add one message or a batch. */
  addMessages(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: MessageIn | Batch }): Promise<Receipts>;
  /** Forget a message. */
  forgetMessage(input: { path: { "passage_id": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** List the chat server's models. */
  listModels(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<ModelList>;
  /** Find what is near a place. */
  nearby(input?: { query?: { "lat"?: number | null; "lon"?: number | null; "radius"?: number | null; "k"?: number; "box"?: string | null; "type"?: Array<string> | null; "as_of"?: string | null; "valid_from"?: string | null; "valid_to"?: string | null; "known_at"?: string | null; "format"?: "json" | "geojson" }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Nearby>;
  /** Find nodes. */
  searchNodes(input?: { query?: { "q"?: string; "type"?: string | null; "as_of"?: string | null; "known_at"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<FoundPage_memsvc_graph_search_MatchedNode_>;
  /** Create a node. */
  addNode(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: NodeIn }): Promise<Change>;
  /** Get a node. */
  describeNode(input: { path: { "node_id": string }; query?: { "as_of"?: string | null; "known_at"?: string | null; "facts"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<graph_shown_ShownNode>;
  /** Forget a node. */
  forgetNode(input: { path: { "node_id": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** Correct a node's properties. */
  correctNode(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: NodePatch }): Promise<Change>;
  /** Add names to a node. */
  addAliases(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: AliasesIn }): Promise<Change>;
  /** Retract names of a node. */
  retractAliases(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: AliasesOut }): Promise<Change>;
  /** Get the history of a node. */
  nodeHistory(input: { path: { "node_id": string }; query?: { "before"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_graph_read_Event_>;
  /** List a node's locations. */
  nodeLocations(input: { path: { "node_id": string }; query?: { "as_of"?: string | null; "known_at"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Locations>;
  /** Set a node's location. */
  locateNode(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: PlaceFields }): Promise<Change>;
  /** End or retract a node's location. */
  endLocation(input: { path: { "node_id": string }; query?: { "ended_at"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Change>;
  /** Merge a node into another. */
  mergeNode(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: MergeIn }): Promise<Change>;
  /** Unmerge a node. */
  unmergeNode(input: { path: { "node_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Change>;
  /** List notes. */
  listNotes(input?: { query?: { "kind"?: "fact" | "preference" | "decision" | "insight" | "question" | "concept" | null; "tag"?: string | null; "q"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<FoundPage_memsvc_graph_notes_FoundNote_>;
  /** Write a note. */
  createNote(input: { header?: { "X-Memsvc-User"?: string | null; "Idempotency-Key"?: string | null }; body: NoteIn }): Promise<Note>;
  /** Read a note. */
  getNote(input: { path: { "note_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Note>;
  /** Change a note. */
  updateNote(input: { path: { "note_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: NoteChange }): Promise<Note>;
  /** Find linked notes. */
  getLinkedNotes(input: { path: { "note_id": string }; query?: { "radius"?: number; "relations"?: Array<"extends" | "contradicts" | "supports" | "example_of" | "part_of" | "relates_to" | "answers" | "caused_by" | "temporal"> | null; "min_strength"?: number; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_graph_links_LinkedNote_>;
  /** List types of nodes and edges. */
  getOntology(input?: { query?: { "status"?: "core" | "proposed" | "approved" | "rejected" | "deprecated" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Ontology>;
  /** Propose an edge type. */
  proposeEdgeType(input: { header?: { "X-Memsvc-User"?: string | null }; body: EdgeTypeProposal }): Promise<NodeType | EdgeType>;
  /** Propose a node type. */
  proposeNodeType(input: { header?: { "X-Memsvc-User"?: string | null }; body: NodeTypeProposal }): Promise<NodeType | EdgeType>;
  /** Withdraw a proposal. */
  withdrawType(input: { path: { "types": "node-types" | "edge-types"; "name": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<unknown>;
  /** Change a type's description. */
  describeType(input: { path: { "types": "node-types" | "edge-types"; "name": string }; header?: { "X-Memsvc-User"?: string | null }; body: TypeChange }): Promise<NodeType | EdgeType>;
  /** Approve, reject or deprecate a type. */
  decideType(input: { path: { "types": "node-types" | "edge-types"; "name": string; "decision": "approve" | "reject" | "deprecate" }; header?: { "X-Memsvc-User"?: string | null } }): Promise<NodeType | EdgeType>;
  /** Get how the service is doing. */
  getOperations(input?: { query?: { "cell"?: string | null } }): Promise<Operations>;
  /** List the cells. */
  listCells(): Promise<Page_memsvc_api_controllers_operations_CellNamed_>;
  /** List the costs of the language model. */
  listCosts(input?: { query?: { "days"?: number; "cell"?: string | null } }): Promise<Page_memsvc_llm_calls_Spending_>;
  /** List dead letters. */
  listDeadLetters(input?: { query?: { "cell"?: string | null } }): Promise<Page_memsvc_queue_dead_DeadLetter_>;
  /** Drop a dead letter. */
  dropDeadLetter(input: { path: { "message_id": string }; query?: { "cell"?: string | null } }): Promise<unknown>;
  /** Retry a dead letter. */
  retryDeadLetter(input: { path: { "message_id": string }; query?: { "cell"?: string | null } }): Promise<unknown>;
  /** List the jobs of all users. */
  listAllJobs(input?: { query?: { "state"?: "pending" | "done" | "failed" | "cancelled" | null; "cursor"?: string | null; "limit"?: number; "cell"?: string | null } }): Promise<Page_memsvc_queue_jobs_JobOfUser_>;
  /** Retry a job of any user. */
  retryAnyJob(input: { path: { "job_id": string }; query?: { "cell"?: string | null } }): Promise<Job>;
  /** List the embedding models. */
  listEmbeddingModels(input?: { query?: { "cell"?: string | null } }): Promise<Models>;
  /** Forget a passage. */
  forgetPassage(input: { path: { "passage_id": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** Past work of agents. */
  pastWork(input: { header?: { "X-Memsvc-User"?: string | null }; body: PastWorkIn }): Promise<PastWork>;
  /** List plans. */
  listPlans(input?: { query?: { "state"?: "open" | "done" | "failed" | "abandoned" | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_lessons_plans_Plan_>;
  /** Store a plan. */
  addPlan(input: { header?: { "X-Memsvc-User"?: string | null }; body: PlanIn }): Promise<Plan>;
  /** Read a plan. */
  getPlan(input: { path: { "plan_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Plan>;
  /** Note results, or revise a plan. */
  changePlan(input: { path: { "plan_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: PlanChange }): Promise<Plan>;
  /** Get what happens to secrets in the text of all users. */
  getAppPolicy(): Promise<Policies>;
  /** Have secrets of all users masked or refused. */
  setAppPolicy(input: { body: PolicyIn }): Promise<Policies>;
  /** Read the profile. */
  readProfile(input?: { query?: { "conversation"?: string | null; "node"?: string | null; "known_at"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Profile>;
  /** Read a block. */
  readBlock(input: { path: { "name": string }; query?: { "conversation"?: string | null; "node"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Block>;
  /** Write a block. */
  writeBlock(input: { path: { "name": string }; header?: { "X-Memsvc-User"?: string | null }; body: BlockIn }): Promise<Block>;
  /** Forget a block. */
  forgetBlock(input: { path: { "name": string }; query?: { "conversation"?: string | null; "node"?: string | null; "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview>;
  /** Change a block. */
  changeBlock(input: { path: { "name": string }; header?: { "X-Memsvc-User"?: string | null }; body: ChangeIn }): Promise<Block>;
  /** Demote a block. */
  demoteBlock(input: { path: { "name": string }; header?: { "X-Memsvc-User"?: string | null }; body: DemotionIn }): Promise<Block>;
  /** Read a block's history. */
  blockHistory(input: { path: { "name": string }; query?: { "conversation"?: string | null; "node"?: string | null; "before"?: number | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_profiles_blocks_Block_>;
  /** Promote a block. */
  promoteBlock(input: { path: { "name": string }; header?: { "X-Memsvc-User"?: string | null }; body: PromotionIn }): Promise<Block>;
  /** List proposals. */
  listProposals(input?: { query?: { "status"?: "open" | "accepted" | "rejected" | "withdrawn"; "kind"?: "link" | "alias" | "split" | "core" | "outdated" | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sleep_proposals_Proposed_>;
  /** Accept a proposal. */
  acceptProposal(input: { path: { "proposal_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<sleep_proposals_Decision>;
  /** Reject a proposal. */
  rejectProposal(input: { path: { "proposal_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<sleep_proposals_Decision>;
  /** Take back a decision on a proposal. */
  reopenProposal(input: { path: { "proposal_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<sleep_proposals_Decision>;
  /** Recall memories. */
  recall(input: { header?: { "X-Memsvc-User"?: string | null }; body: RecallIn }): Promise<Recalled>;
  /** Give feedback on a recall. */
  giveFeedback(input: { path: { "recall_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: FeedbackIn }): Promise<FeedbackReceipt>;
  /** List reflections. */
  listReflections(input?: { query?: { "kind"?: "habit" | "changed_mind" | "contradiction" | "open_loop" | "insight" | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_lessons_reflections_Reflection_>;
  /** Chat with memory, as in OpenAI's Responses API. */
  createResponse(input: { header?: { "X-Memsvc-User"?: string | null; "X-Memsvc-Conversation"?: string; "X-Memsvc-Session"?: string; "X-Memsvc-Memory"?: "on" | "off"; "X-Memsvc-Agent"?: string; "X-Memsvc-Project"?: string | null; "Idempotency-Key"?: string | null; "X-Memsvc-Context"?: string | null }; body: ResponseIn }): Promise<ModelResponse>;
  /** List facts under review. */
  listReviews(input?: { query?: { "state"?: "doubtful" | "refused" | "accepted" | "edited" | "rejected" | "all"; "source"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_extract_review_Review_>;
  /** Get a fact under review. */
  getReview(input: { path: { "review_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Review>;
  /** Correct a fact and accept it. */
  editReview(input: { path: { "review_id": string }; header?: { "X-Memsvc-User"?: string | null }; body: EditIn }): Promise<Decided>;
  /** Accept a fact. */
  acceptReview(input: { path: { "review_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Decided>;
  /** Reject a fact permanently. */
  rejectReview(input: { path: { "review_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Decided>;
  /** Take back a decision on a fact. */
  reopenReview(input: { path: { "review_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Review>;
  /** List recurring work. */
  listSchedules(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_queue_schedule_Schedule_>;
  /** Set recurring work. */
  setSchedule(input: { path: { "kind": string }; header?: { "X-Memsvc-User"?: string | null }; body: ScheduleIn }): Promise<Schedule>;
  /** Run sleep mode now. */
  sleep(input: { header?: { "X-Memsvc-User"?: string | null }; body: SleepIn }): Promise<SleepAsked>;
  /** Preview a run of sleep mode. */
  previewSleep(input: { header?: { "X-Memsvc-User"?: string | null }; body: SleepPreviewIn }): Promise<SleepPreview>;
  /** Read the report of a night. */
  readSleepReport(input?: { query?: { "date"?: string | null; "format"?: "json" | "markdown" | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<SleepReport>;
  /** List runs of sleep mode. */
  listSleepRuns(input?: { query?: { "cursor"?: string | null; "after"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sleep_runs_Run_>;
  /** Get a run of sleep mode. */
  getSleepRun(input: { path: { "run_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Run>;
  /** Undo a run of sleep mode. */
  undoSleepRun(input: { path: { "run_id": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Undone>;
  /** List the tasks of sleep mode. */
  listSleepTasks(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_sleep_registry_Known_>;
  /** Switch a task of sleep mode on or off. */
  switchSleepTask(input: { path: { "task": string }; header?: { "X-Memsvc-User"?: string | null }; body: WishIn }): Promise<Known>;
  /** Open a source around a passage. */
  openSource(input: { path: { "source_id": string }; query?: { "around"?: string | null; "before"?: number; "after"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<OpenedSource>;
  /** Forget a source. */
  forgetSource(input: { path: { "source_id": string }; query?: { "preview"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** List summaries. */
  listSummaries(input?: { query?: { "level"?: "conversation" | "day" | "week" | "month" | "year" | null; "from"?: string | null; "to"?: string | null; "node"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_summaries_stored_Summary_>;
  /** List what happened. */
  readTimeline(input?: { query?: { "from"?: string | null; "to"?: string | null; "kind"?: Array<"message" | "document" | "event" | "began" | "ended" | "change"> | null; "node"?: string | null; "cursor"?: string | null; "limit"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Page_memsvc_recall_timeline_TimelineEntry_>;
  /** Count what happened by periods. */
  countTimeline(input?: { query?: { "step"?: "day" | "week" | "month" | "year"; "from"?: string | null; "to"?: string | null; "kind"?: Array<"message" | "document" | "event" | "began" | "ended" | "change"> | null; "node"?: string | null }; header?: { "X-Memsvc-User"?: string | null } }): Promise<TimelineCounts>;
  /** Count what was stored since a moment. */
  readNews(input: { query: { "since": string }; header?: { "X-Memsvc-User"?: string | null } }): Promise<TimelineNews>;
  /** Make a token. */
  makeToken(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Token>;
  /** List salient memories. */
  topOfMind(input?: { query?: { "limit"?: number; "as_of"?: string | null; "known_at"?: string | null; "traces"?: boolean; "facts"?: boolean }; header?: { "X-Memsvc-User"?: string | null } }): Promise<TopOfMind>;
  /** Record a turn of an agent. */
  recordTurn(input: { header?: { "X-Memsvc-User"?: string | null }; body: TurnIn }): Promise<StoredTurn>;
  /** Get how useful recalls are. */
  getUsefulness(input?: { query?: { "days"?: number }; header?: { "X-Memsvc-User"?: string | null } }): Promise<Usefulness>;
  /** List users. */
  listUsers(input?: { query?: { "cursor"?: string | null; "after"?: string | null; "limit"?: number } }): Promise<Page_memsvc_access_users_User_>;
  /** Add a user. */
  addUser(input: { header?: { "Idempotency-Key"?: string | null }; body: UserIn }): Promise<User>;
  /** Forget a user. */
  forgetUser(input: { path: { "user": string }; query?: { "preview"?: boolean } }): Promise<Receipt | api_controllers_erasures_Preview | Receipt>;
  /** Anonymise a user. */
  anonymiseUser(input: { path: { "user": string } }): Promise<Anonymised>;
  /** Check a user's erasure. */
  getUserErasure(input: { path: { "user": string } }): Promise<Receipt>;
  /** Preview what stays of an anonymised user. */
  previewAnonymising(input: { path: { "user": string } }): Promise<Page_memsvc_erasing_anonymising_Figure_>;
  /** Verify a claim. */
  verifyClaim(input: { header?: { "X-Memsvc-User"?: string | null }; body: ClaimIn }): Promise<Verified>;
  /** Count what waits for a decision. */
  countWaiting(input?: { header?: { "X-Memsvc-User"?: string | null } }): Promise<Waiting>;
}
