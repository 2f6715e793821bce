export type Settings = {
	/** Where the API of Tributary is, such as `https://api.example.com`. */
	api: string;
	/** Parameters of the landing address that may carry the click id. The first one also decorates outbound links. */
	parameters?: string[];
	/** Name of the cookie; the first parameter when omitted. */
	cookie?: string;
	/** Such as `example.com`, for all its subdomains; else the cookie is for this host only. */
	cookieDomain?: string;
	cookieDays?: number;
	/** Which click stays when a visitor comes by a second one. */
	attribution?: "first-click" | "last-click";
	/** Hosts whose links get the click id: `shop.example.com`, or `*.example.com` for subdomains. */
	outbound?: string[];
	/** A publishable key (`trib_pk_…`), for `trackLead` and `trackSale`. */
	key?: string;
	/** Do nothing for visitors whose browser sends Do-Not-Track or Global Privacy Control. */
	honourDoNotTrack?: boolean;
};
export type Click = {
	domain: string;
	key: string;
	url?: string;
	referrer?: string;
};
export type Lead = {
	eventName: string;
	customerExternalId: string;
} & Details;
export type Sale = {
	customerExternalId: string;
	amount: number;
	currency?: string;
	invoiceId?: string;
} & Details;
type Details = {
	[field: string]: unknown;
};
export type Tracker = {
	/** The click that brought this visitor; null when none is known. */
	clickId(): string | null;
	/** Reports a click on a link that the visitor did not pass through, and keeps its id. */
	trackClick(click: Click): Promise<string | null>;
	/** Both give `{}`, the only answer to a publishable key, or null for a visitor who does not want to be tracked. */
	trackLead(lead: Lead): Promise<unknown>;
	trackSale(sale: Sale): Promise<unknown>;
};
/** Keeps the click id of the landing address, and decorates outbound links from now on. */
export declare function startTracker(settings: Settings): Tracker;
export {};
