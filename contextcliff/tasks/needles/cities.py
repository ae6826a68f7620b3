"""Real cities for needles: known names of one token or a few in every vocabulary."""

from __future__ import annotations

_NAMES = """
    Accra Adelaide Algiers Alicante Amman Amsterdam Ankara Antwerp Athens Auckland Austin Baghdad
    Baku Baltimore Bamako Bandung Bangkok Barcelona Basel Beijing Beirut Belfast Belgrade Bergen
    Berlin Bilbao Birmingham Bogota Bologna Bordeaux Boston Brasilia Bratislava Bremen Brisbane
    Bristol Brno Brussels Bucharest Budapest Cairo Calgary Canberra Caracas Cardiff Casablanca
    Charlotte Chennai Chicago Cologne Copenhagen Cordoba Dakar Dallas Damascus Delhi Denver Detroit
    Dhaka Doha Dortmund Dresden Dubai Dublin Durban Edinburgh Florence Frankfurt Fukuoka Gdansk
    Geneva Genoa Ghent Glasgow Gothenburg Granada Graz Guadalajara Halifax Hamburg Hanoi Harare
    Havana Helsinki Houston Hyderabad Innsbruck Istanbul Jakarta Jerusalem Johannesburg Kabul
    Kampala Karachi Kathmandu Khartoum Kigali Kingston Kobe Krakow Kyoto Lagos Lahore Leeds Leipzig
    Lille Lima Linz Lisbon Liverpool Ljubljana London Luanda Lublin Lusaka Luxembourg Lyon Madrid
    Malaga Manchester Manila Maputo Marrakesh Marseille Medellin Melbourne Memphis Miami Milan
    Milwaukee Minsk Mombasa Monaco Montevideo Montreal Moscow Mumbai Munich Muscat Nagoya Nairobi
    Nantes Naples Nashville Nicosia Nuremberg Odessa Omaha Orlando Osaka Oslo Ottawa Palermo Paris
    Perth Philadelphia Phoenix Porto Prague Pretoria Quebec Quito Rabat Reykjavik Riga Rome
    Rotterdam Salzburg Santiago Sapporo Sarajevo Seattle Seoul Seville Shanghai Sheffield Singapore
    Skopje Sofia Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tampa Tashkent Tbilisi Tehran
    Tirana Tokyo Toledo Toronto Toulouse Trieste Tripoli Tucson Tunis Turin Utrecht Valencia
    Vancouver Venice Verona Vienna Vilnius Warsaw Washington Wellington Winnipeg Wroclaw Yokohama
    Zagreb Zaragoza Zurich
"""
CITIES = tuple(_NAMES.split())
