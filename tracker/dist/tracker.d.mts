export type Settings = {
	/** URL of the Tributary API, such as `https://api.example.com`. */
	api: string;
	/** Query parameters that may carry the click id. The first one also decorates outbound links. */
	parameters?: string[];
	/** Name of the cookie; by default, the first parameter. */
	cookie?: string;
	/** Cookie domain, such as `example.com` for all its subdomains; by default, this host only. */
	cookieDomain?: string;
	cookieDays?: number;
	/** Whether the first or the last click counts. */
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
	/** The visitor's click id; null if none is known. */
	clickId(): string | null;
	/** Reports a click on a link without a redirect, and stores its id. */
	trackClick(click: Click): Promise<string | null>;
	/** Both return `{}`, the only response to a publishable key, or null for a visitor who opted out. */
	trackLead(lead: Lead): Promise<unknown>;
	trackSale(sale: Sale): Promise<unknown>;
};
/** Stores the click id of the landing page, and decorates outbound links from now on. */
export declare function startTracker(settings: Settings): Tracker;
export {};
